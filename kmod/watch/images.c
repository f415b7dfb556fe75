// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes files and tables from a reader, see images.h.
 */
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/stat.h>
#include <linux/uio.h>
#include <linux/uaccess.h>

#include "../../uapi/linux/kipt_raw.h"
#include "../lib/memory.h"
#include "images.h"

/* Files there is room for to begin with. */
#define FILES_FIRST	64U

/* With its size, and when it was last changed, as it was given. */
struct image_file {
	struct file *file;
	loff_t size;
	struct timespec64 mtime, ctime;
};

struct kipt_images {
	struct image_file *files;
	u32 nr_files;
	u32 room;
	struct kipt_image_table table;
};

struct kipt_images *kipt_images_create(void)
{
	return kipt_memory_alloc(sizeof(struct kipt_images));
}

/* All tables are one piece of memory. */
static size_t tables_bytes(const struct kipt_image_table *table)
{
	return table->nr_spaces * (sizeof(*table->spaces) + sizeof(*table->changes) +
				   sizeof(*table->bases)) +
	       table->nr_ranges * sizeof(*table->ranges);
}

static void free_tables(struct kipt_image_table *table)
{
	kipt_memory_free(table->spaces, tables_bytes(table));
	*table = (struct kipt_image_table){ 0 };
}

void kipt_images_destroy(struct kipt_images *images)
{
	u32 i;

	if (!images)
		return;
	for (i = 0; i < images->nr_files; i++)
		fput(images->files[i].file);
	kipt_memory_uncharge(images->nr_files * sizeof(struct file));
	kipt_memory_free(images->files, images->room * sizeof(*images->files));
	free_tables(&images->table);
	kipt_memory_free(images, sizeof(*images));
}

/*
 * What the kernel makes when it is read (procfs, sysfs) is nobody's code. A server of
 * FUSE that has taken a request and does not answer it holds whoever reads, and no
 * signal ends that; nor if overlayfs is between.
 */
static bool is_readable(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return S_ISREG(inode->i_mode) && file->f_op->read_iter &&
	       !(inode->i_sb->s_iflags & SB_I_NOEXEC) &&
	       d_real_inode(file->f_path.dentry)->i_sb->s_magic != FUSE_SUPER_MAGIC;
}

static int make_room(struct kipt_images *images)
{
	u32 room = images->room ? images->room * 2 : FILES_FIRST;
	struct image_file *files;

	if (images->nr_files < images->room)
		return 0;
	if (room > KIPT_RAW_FILES_MAX)
		return -E2BIG;
	files = kipt_memory_grow(images->files, images->nr_files * sizeof(*files),
				 images->room * sizeof(*files), room * sizeof(*files));
	if (!files)
		return -ENOMEM;
	images->files = files;
	images->room = room;
	return 0;
}

static int describe(struct image_file *image, struct file *file)
{
	struct kstat stat;
	int err = vfs_getattr(&file->f_path, &stat,
			      STATX_SIZE | STATX_MTIME | STATX_CTIME,
			      AT_STATX_SYNC_AS_STAT);

	if (!err)
		*image = (struct image_file){
			.file = file, .size = stat.size,
			.mtime = stat.mtime, .ctime = stat.ctime,
		};
	return err;
}

/* What is read then is not what was mapped. */
static bool is_changed(const struct image_file *image)
{
	struct image_file now;

	return describe(&now, image->file) || now.size != image->size ||
	       !timespec64_equal(&now.mtime, &image->mtime) ||
	       !timespec64_equal(&now.ctime, &image->ctime);
}

int kipt_images_add(struct kipt_images *images, int fd)
{
	struct file *file = fget(fd);
	struct image_file image;
	int err;

	if (!file)
		return -EBADF;
	err = !(file->f_mode & FMODE_READ) ? -EBADF :
	      !is_readable(file) ? -EINVAL : describe(&image, file);
	if (!err)
		err = make_room(images);
	/* It lives on when the process has closed it. */
	if (!err)
		err = kipt_memory_charge(sizeof(*file));
	if (err) {
		fput(file);
		return err;
	}
	images->files[images->nr_files] = image;
	return images->nr_files++;
}

static int compare_times(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return a < b ? -1 : a > b;
}

static int take_tables(struct kipt_images *images,
		       const struct kipt_raw_images *wish)
{
	struct kipt_image_table *table = &images->table;

	table->nr_spaces = wish->nr_spaces;
	table->nr_ranges = wish->nr_ranges;
	table->spaces = kipt_memory_alloc(tables_bytes(table));
	if (!table->spaces)
		return -ENOMEM;
	table->ranges = (void *)(table->spaces + table->nr_spaces);
	table->changes = (void *)(table->ranges + table->nr_ranges);
	table->bases = (void *)(table->changes + table->nr_spaces);
	if (copy_from_user(table->spaces, u64_to_user_ptr(wish->spaces),
			   table->nr_spaces * sizeof(*table->spaces)) ||
	    copy_from_user(table->ranges, u64_to_user_ptr(wish->ranges),
			   table->nr_ranges * sizeof(*table->ranges)))
		return -EFAULT;
	if (!kipt_image_table_settle(table, images->nr_files))
		return -EINVAL;
	if (table->nr_changes > KIPT_RAW_CHANGES_MAX)
		return -E2BIG;
	sort(table->changes, table->nr_changes, sizeof(*table->changes),
	     compare_times, NULL);
	return 0;
}

int kipt_images_fill(struct kipt_images *images,
		     const struct kipt_raw_images *wish)
{
	int err;

	if (!wish->nr_spaces || !wish->nr_ranges)
		return -EINVAL;
	if (wish->nr_spaces > KIPT_RAW_SPACES_MAX ||
	    wish->nr_ranges > KIPT_RAW_RANGES_MAX)
		return -E2BIG;
	err = take_tables(images, wish);
	if (err)
		free_tables(&images->table);
	return err;
}

const struct kipt_image_table *kipt_images_table(const struct kipt_images *images)
{
	return &images->table;
}

/* Whoever shares the file may have made it one for O_DIRECT since. */
static ssize_t read_some(struct file *file, u64 at, void *to, size_t bytes)
{
	struct kvec part = { .iov_base = to, .iov_len = bytes };
	struct iov_iter parts;
	struct kiocb request;

	init_sync_kiocb(&request, file);
	request.ki_pos = at;
	request.ki_flags &= ~IOCB_DIRECT;
	iov_iter_kvec(&parts, READ, &part, 1, bytes);
	return vfs_iocb_iter_read(file, &request, &parts);
}

u32 kipt_images_read(const struct kipt_images *images,
		     const struct kipt_image_place *place, void *to)
{
	const struct image_file *image = &images->files[place->file];
	u32 done = 0;
	ssize_t got;

	/* A file system may give less at a time. */
	do {
		got = read_some(image->file, place->offset + done,
				to + done, PAGE_SIZE - done);
		done += max_t(ssize_t, got, 0);
	} while (got > 0 && done < PAGE_SIZE);
	return is_changed(image) ? 0 : done;
}
