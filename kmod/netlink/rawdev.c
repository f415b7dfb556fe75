// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device for raw trace, as uapi/linux/kipt_raw.h describes it. A file that is attached
 * holds a reference to the buffer of one CPU, so the bytes stay readable when the session
 * goes away, and stay charged until the file and its mappings are gone. Every operation
 * but poll asks permission.c, because a file can be passed on. Process context.
 */
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "commands.h"
#include "../session/arm.h"
#include "../trace/buffer.h"
#include "../lib/compat.h"
#include "../session/permission.h"
#include "../session/session.h"
#include "../crash/snapshot.h"
#include "../watch/images.h"
#include "../watch/sideband.h"
#include "../../uapi/linux/kipt_raw.h"

/**
 * struct raw_file - an open file
 * @lock: guards attaching
 * @session: referenced, or NULL before KIPT_RAW_ATTACH; set once
 * @trace: of @session; its buffer pointer is of no use once that is dead
 * @buffer: referenced
 * @images: what KIPT_RAW_IMAGES will complete, or NULL; guarded by @lock
 */
struct raw_file {
	struct mutex lock;
	struct kipt_session *session;
	struct kipt_trace *trace;
	struct kipt_buffer *buffer;
	struct kipt_images *images;
};

/*
 * The module is loaded for good. Before that it may still fail, and would take the code
 * away that an open file needs.
 */
static bool usable;

static struct kipt_session *attached_session(struct raw_file *raw)
{
	/* Pairs with attach_trace(). */
	return smp_load_acquire(&raw->session);
}

static int kipt_rawdev_open(struct inode *inode, struct file *file)
{
	struct raw_file *raw;
	int err;

	if (!READ_ONCE(usable))
		return -ENODEV;
	err = kipt_permission_file(NULL);
	if (err)
		return err;
	raw = kzalloc(sizeof(*raw), GFP_KERNEL_ACCOUNT);
	if (!raw)
		return -ENOMEM;
	mutex_init(&raw->lock);
	file->private_data = raw;
	return nonseekable_open(inode, file);
}

static int kipt_rawdev_release(struct inode *inode, struct file *file)
{
	struct raw_file *raw = file->private_data;

	kipt_arm_return(raw);
	kipt_images_destroy(raw->images);
	kipt_buffer_put(raw->buffer);
	if (raw->session)
		kipt_session_put(raw->session);
	kfree(raw);
	return 0;
}

static int attach_trace(struct raw_file *raw, struct kipt_session *session,
			u32 cpu)
{
	struct kipt_trace *trace = kipt_session_trace(session, cpu);

	lockdep_assert_held(&session->lock);
	if (!trace)
		return -ENXIO;
	if (READ_ONCE(session->dead))
		return -ENOENT;
	if (session->state == KIPT_STATE_SETUP)
		return -EBUSY;
	raw->buffer = kipt_buffer_get(trace->buffer);
	raw->trace = trace;
	/* Pairs with attached_session(): the rest is set before it. */
	smp_store_release(&raw->session, session);
	return 0;
}

static int attach_locked(struct raw_file *raw, struct kipt_raw_attach *attach)
{
	struct kipt_session *session;
	int err;

	lockdep_assert_held(&raw->lock);
	if (raw->session)
		return -EBUSY;
	session = kipt_session_find(attach->session);
	if (!session)
		return -ENOENT;
	err = kipt_permission_file(session);
	if (!err) {
		mutex_lock(&session->lock);
		err = attach_trace(raw, session, attach->cpu);
		mutex_unlock(&session->lock);
	}
	if (err)
		kipt_session_put(session);
	return err;
}

static long attach(struct raw_file *raw, void __user *arg)
{
	struct kipt_raw_attach attach;
	long err;

	if (copy_from_user(&attach, arg, sizeof(attach)))
		return -EFAULT;
	mutex_lock(&raw->lock);
	err = attach_locked(raw, &attach);
	mutex_unlock(&raw->lock);
	return err;
}

/* Return: 0, or -ESTALE if the session is gone. */
static int find_position(struct raw_file *raw,
			 struct kipt_raw_position *position)
{
	struct kipt_session *session = raw->session;
	struct kipt_trace_result result;
	int err;

	mutex_lock(&session->lock);
	kipt_trace_result(raw->trace, &result);
	*position = (struct kipt_raw_position) {
		.state = kipt_session_trace_state(session, raw->trace),
		.head = result.head,
		.tail = result.tail,
		.size = session->group.config.size,
		.lost = result.tail,
		.generation = session->generation,
		.cause = result.cause,
	};
	err = READ_ONCE(session->dead) ? -ESTALE : 0;
	mutex_unlock(&session->lock);
	return err;
}

static long position(struct raw_file *raw, void __user *arg)
{
	struct kipt_raw_position position;
	u32 bytes;
	int err;

	BUILD_BUG_ON(sizeof(position) != KIPT_RAW_POSITION_BYTES);
	if (!attached_session(raw))
		return -EINVAL;
	if (copy_from_user(&bytes, arg, sizeof(bytes)))
		return -EFAULT;
	if (bytes < KIPT_RAW_POSITION_BYTES || bytes > PAGE_SIZE)
		return -EINVAL;
	err = find_position(raw, &position);
	if (err)
		return err;
	position.bytes = min_t(u32, bytes, sizeof(position));
	if (copy_to_user(arg, &position, position.bytes) ||
	    clear_user(arg + position.bytes, bytes - position.bytes))
		return -EFAULT;
	return 0;
}

static long lend(struct raw_file *raw, void __user *arg)
{
	struct kipt_raw_lend wish;

	if (copy_from_user(&wish, arg, sizeof(wish)))
		return -EFAULT;
	if (wish.seconds > KIPT_RAW_LEND_MAX || wish.reserved)
		return -EINVAL;
	return kipt_arm_lend(raw, wish.seconds);
}

static int add_file(struct raw_file *raw, int fd)
{
	lockdep_assert_held(&raw->lock);
	if (!raw->images)
		raw->images = kipt_images_create();
	return raw->images ? kipt_images_add(raw->images, fd) : -ENOMEM;
}

static long take_file(struct raw_file *raw, void __user *arg)
{
	int fd, ret;

	if (!attached_session(raw))
		return -EINVAL;
	if (copy_from_user(&fd, arg, sizeof(fd)))
		return -EFAULT;
	mutex_lock(&raw->lock);
	ret = add_file(raw, fd);
	mutex_unlock(&raw->lock);
	return ret;
}

/* Return: 0, and @images is the session's; or an errno, and it is the caller's. */
static int give_images(struct kipt_session *session, struct kipt_images *images)
{
	int err = 0;

	mutex_lock(&session->lock);
	if (READ_ONCE(session->dead))
		err = -ESTALE;
	else if (session->state != KIPT_STATE_STOPPED || session->fetch)
		err = -EBUSY;
	else
		kipt_sideband_give(session->group.sideband, images);
	mutex_unlock(&session->lock);
	return err;
}

static long take_images(struct raw_file *raw, void __user *arg)
{
	struct kipt_session *session = attached_session(raw);
	struct kipt_raw_images wish;
	struct kipt_images *images;
	int err;

	if (!session)
		return -EINVAL;
	if (copy_from_user(&wish, arg, sizeof(wish)))
		return -EFAULT;
	mutex_lock(&raw->lock);
	images = raw->images ?: kipt_images_create();
	raw->images = NULL;
	mutex_unlock(&raw->lock);
	if (!images)
		return -ENOMEM;
	err = kipt_images_fill(images, &wish);
	if (!err)
		err = give_images(session, images);
	if (err)
		kipt_images_destroy(images);
	return err;
}

static long kipt_rawdev_ioctl(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	struct raw_file *raw = file->private_data;
	int err;

	err = kipt_permission_file(attached_session(raw));
	if (err)
		return err;
	switch (cmd) {
	case KIPT_RAW_ATTACH:
		return attach(raw, (void __user *)arg);
	case KIPT_RAW_POSITION:
		return position(raw, (void __user *)arg);
	case KIPT_RAW_LEND:
		return lend(raw, (void __user *)arg);
	case KIPT_RAW_FILE:
		return take_file(raw, (void __user *)arg);
	case KIPT_RAW_IMAGES:
		return take_images(raw, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int kipt_rawdev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct raw_file *raw = file->private_data;
	struct kipt_session *session = attached_session(raw);
	int err;

	err = kipt_permission_file(session);
	if (err)
		return err;
	if (!session)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	kipt_compat_vma_read_only(vma);
	return kipt_buffer_map_user(raw->buffer, vma);
}

static __poll_t kipt_rawdev_poll(struct file *file, poll_table *wait)
{
	struct raw_file *raw = file->private_data;
	struct kipt_session *session = attached_session(raw);

	if (!session)
		return EPOLLERR;
	poll_wait(file, &session->wait, wait);
	if (READ_ONCE(session->dead))
		return EPOLLHUP;
	if (READ_ONCE(session->state) == KIPT_STATE_STOPPED ||
	    READ_ONCE(raw->trace->over) ||
	    READ_ONCE(raw->trace->result.cause))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static const struct file_operations raw_fops = {
	.owner = THIS_MODULE,
	.open = kipt_rawdev_open,
	.release = kipt_rawdev_release,
	.unlocked_ioctl = kipt_rawdev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = kipt_rawdev_mmap,
	.poll = kipt_rawdev_poll,
};

static struct miscdevice raw_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kipt",
	.fops = &raw_fops,
	/* The capability decides, see permission.c. */
	.mode = 0666,
};

/* udev's rule starts the service that saves it. */
static void send_uevent(u32 snapshot)
{
	char number[32], *env[] = { number, NULL };

	snprintf(number, sizeof(number), "KIPT_SNAPSHOT=%u", snapshot);
	kobject_uevent_env(&raw_device.this_device->kobj, KOBJ_CHANGE, env);
}

int kipt_rawdev_init(void)
{
	int err = misc_register(&raw_device);

	if (!err)
		kipt_snapshot_listen(send_uevent);
	return err;
}

void kipt_rawdev_allow(void)
{
	WRITE_ONCE(usable, true);
}

void kipt_rawdev_uninit(void)
{
	kipt_snapshot_listen(NULL);
	misc_deregister(&raw_device);
}
