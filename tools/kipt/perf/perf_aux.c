// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace in a recording of perf, see perf_aux.h. Collects where the pieces are
 * while the events go by, and reads the bytes of one queue at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/flow/flow_ovf.h"
#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../cli/large_memory.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "perf_aux.h"
#include "perf_bytes.h"
#include "perf_sample.h"

#define INFO_HEAD		8
#define NO_CPU			0xffffffffU
/* The key of a thread has this bit. */
#define NO_CPU_KEY		(1ULL << 32)
/* An entry of ID_INDEX: numbers of the event, the buffer, the CPU and the thread. */
#define ID_ENTRY		32
/* No recording has more events. */
#define IDS_MOST		(1U << 20)
/* Places where trace is missing; and as many where a CPU stopped. */
#define MARKS_MOST		(1U << 22)

/* Flags of AUX records. */
#define AUX_TRUNCATED	1
#define AUX_OVERWRITE	2
#define AUX_PARTIAL	4
#define AUX_COLLISION	8

/* A shorter overlap of two snapshots may be chance. */
#define OVERLAP_LEAST	64
/* Bytes that are compared for each byte there is: a forged trace repeats itself. */
#define OVERLAP_WORK	4

/* Where the first time of a queue is looked for. */
#define FIRST_PIECES	16
#define FIRST_BYTES	(1U << 16)
/* Where the last PSB is looked for, so many bytes at a time. */
#define SEARCH_BYTES	(1U << 16)

/* Compressed events may mean any number of samples. */
#define SAMPLED_MOST	(2ULL << 30)

/* perf fills each piece up with zeros to a multiple of this. */
#define PIECE_ALIGN	8

static bool no_memory(struct perf_aux *aux)
{
	say_errno(ENOMEM, "cannot hold the list of the trace");
	aux->failed = true;
	return false;
}

static u64 info_get(const struct perf_event *event, u32 which)
{
	u64 at = INFO_HEAD + 8ULL * which;

	return at + 8 <= event->size ? get64(event->bytes + at) : 0;
}

/* A text that does not fit is kept as one that names no ranges of the kernel. */
static void filter_take(struct perf_aux *aux, const struct perf_event *event)
{
	u64 at = INFO_HEAD + 8ULL * (PERF_INFO_FILTER_BYTES + 1);
	u64 size = info_get(event, PERF_INFO_FILTER_BYTES);

	if (!size)
		return;
	if (at < event->size && size < sizeof(aux->filter) && size <= event->size - at)
		memcpy(aux->filter, event->bytes + at, size);
	else
		strcpy(aux->filter, "?");
}

static bool info_take(struct perf_aux *aux, const struct perf_file *file,
		      const struct perf_event *event)
{
	if (event->size < INFO_HEAD + 8)
		return true;
	if (get32(event->bytes) != PERF_AUXTRACE_INTEL_PT) {
		say_error("%s: its trace is of another kind than Intel PT (%u in perf's list); kipt reads Intel PT only",
			  perf_file_path(file), get32(event->bytes));
		aux->failed = true;
		return false;
	}
	aux->known = true;
	aux->pmu = info_get(event, PERF_INFO_PMU);
	if (info_get(event, PERF_INFO_HAS_ZERO) && info_get(event, PERF_INFO_SHIFT) < 64)
		aux->clock = (struct perf_clock){
			.shift = info_get(event, PERF_INFO_SHIFT),
			.mult = info_get(event, PERF_INFO_MULT),
			.zero = info_get(event, PERF_INFO_ZERO),
		};
	aux->tsc_bit = info_get(event, PERF_INFO_TSC_BIT);
	aux->noretcomp_bit = info_get(event, PERF_INFO_NORETCOMP_BIT);
	aux->switches = info_get(event, PERF_INFO_SWITCHES);
	aux->snapshot = info_get(event, PERF_INFO_SNAPSHOT);
	aux->per_cpu = info_get(event, PERF_INFO_PER_CPU);
	aux->mtc_bit = info_get(event, PERF_INFO_MTC_BIT);
	aux->mtc_freq_bits = info_get(event, PERF_INFO_MTC_FREQ_BITS);
	aux->tsc_num = info_get(event, PERF_INFO_TSC_NUM);
	aux->tsc_den = info_get(event, PERF_INFO_TSC_DEN);
	aux->cyc_bit = info_get(event, PERF_INFO_CYC_BIT);
	aux->max_nonturbo = info_get(event, PERF_INFO_MAX_NONTURBO);
	filter_take(aux, event);
	return true;
}

/* Of the file of a pipe, the clock may come later by itself. */
static void clock_take(struct perf_aux *aux, const struct perf_event *event)
{
	if (aux->clock.mult || event->size < 24 || get64(event->bytes) > 63)
		return;
	aux->clock = (struct perf_clock){
		.shift = get64(event->bytes),
		.mult = get64(event->bytes + 8),
		.zero = get64(event->bytes + 16),
	};
}

static u64 place_key(u32 cpu, u32 tid)
{
	return cpu == NO_CPU ? NO_CPU_KEY | tid : cpu;
}

static struct perf_queue *queue_get(struct perf_aux *aux, u32 cpu, u32 tid)
{
	u64 key = place_key(cpu, tid);
	const size_t *found = lookup_get(&aux->queue_of, key);
	size_t i = aux->queue_count;
	struct perf_queue *queues;

	if (found)
		return &aux->queues[*found];
	queues = list_room(aux->queues, i, sizeof(*queues));
	if (queues)
		aux->queues = queues;
	if (!queues || !lookup_add(&aux->queue_of, key, i)) {
		no_memory(aux);
		return NULL;
	}
	aux->queue_count = i + 1;
	queues[i] = (struct perf_queue){
		.has_cpu = cpu != NO_CPU,
		.cpu = cpu == NO_CPU ? 0 : cpu,
		.tid = tid,
	};
	return &queues[i];
}

static bool piece_add(struct perf_aux *aux, u32 cpu, u32 tid,
		      const struct perf_piece *piece)
{
	struct perf_queue *queue = queue_get(aux, cpu, tid);
	struct perf_piece *pieces;

	if (!queue)
		return false;
	pieces = list_room(queue->pieces, queue->piece_count, sizeof(*pieces));
	if (!pieces)
		return no_memory(aux);
	queue->pieces = pieces;
	pieces[queue->piece_count++] = *piece;
	queue->size += piece->size;
	return true;
}

static bool piece_take(struct perf_aux *aux, const struct perf_event *event)
{
	struct perf_piece piece;

	if (event->size < 36 || !event->follow)
		return true;
	piece = (struct perf_piece){
		.at = event->at,
		.size = event->follow,
		.offset = get64(event->bytes + 8),
	};
	return piece_add(aux, get32(event->bytes + 32),
			 get32(event->bytes + 28), &piece);
}

static bool any_in_samples(const struct perf_file *file)
{
	const struct perf_attr *attr;
	size_t i;

	for (i = 0; (attr = perf_file_attr(file, i)); i++) {
		if (attr->sample_type & PERF_SAMPLE_BIT_AUX)
			return true;
	}
	return false;
}

/* Which CPU or thread an event was opened for: its samples need not say so. */
static bool index_take(struct perf_aux *aux, const struct perf_event *event)
{
	u64 count = event->size < 8 ? 0 : get64(event->bytes), i;
	const u8 *entry;

	if (count > (event->size - 8) / ID_ENTRY)
		return true;
	for (i = 0; i < count && aux->place_of.count < IDS_MOST; i++) {
		entry = event->bytes + 8 + i * ID_ENTRY;
		if (!lookup_add(&aux->place_of, get64(entry),
				place_key(get32(entry + 16),
					  get32(entry + 24))))
			return no_memory(aux);
	}
	return true;
}

/* The buffer is the CPU's, or the thread's; whoever the sample is of. */
static bool sample_add(struct perf_aux *aux, const struct perf_sample *sample,
		       const struct perf_piece *piece)
{
	const size_t *place = lookup_get(&aux->place_of, sample->id);
	u32 cpu = sample->has & PERF_SAMPLE_BIT_CPU ? sample->cpu : NO_CPU;
	u32 tid = sample->tid;

	if (place) {
		cpu = *place & NO_CPU_KEY ? NO_CPU : *place;
		tid = *place;
	}
	return piece_add(aux, cpu, tid, piece);
}

/* The event's bytes are gone with it, and may have been compressed. */
static bool sample_take(struct perf_aux *aux, const struct perf_file *file,
			const struct perf_event *event)
{
	const struct perf_attr *attr = perf_file_attr_of(file, event);
	struct perf_sample sample;
	struct perf_piece piece;

	if (attr ? !(attr->sample_type & PERF_SAMPLE_BIT_AUX) :
		   !any_in_samples(file))
		return true;
	if (!attr || !perf_sample_read(attr, event, &sample)) {
		aux->bad_samples++;
		return true;
	}
	if (!sample.size)
		return true;
	aux->sampled += sample.size;
	if (aux->sampled > SAMPLED_MOST) {
		say_error("%s: its samples have more than %llu MiB of trace, which kipt would hold in memory",
			  perf_file_path(file), SAMPLED_MOST >> 20);
		aux->failed = true;
		return false;
	}
	piece = (struct perf_piece){ .size = sample.size };
	piece.bytes = malloc(sample.size);
	if (!piece.bytes)
		return no_memory(aux);
	memcpy(piece.bytes, sample.trace, sample.size);
	aux->snapshot = true;
	if (sample_add(aux, &sample, &piece))
		return true;
	free(piece.bytes);
	return false;
}

static bool cut_add(struct perf_aux *aux, struct perf_queue *queue,
		    u64 offset, u32 gap)
{
	struct perf_cut *cuts;

	if (aux->cuts++ == MARKS_MOST) {
		say_error("perf lost trace more often than kipt keeps (%u times): record for a shorter time, or with a larger buffer (-m,64M)",
			  MARKS_MOST);
		aux->failed = true;
		return false;
	}
	cuts = list_room(queue->cuts, queue->cut_count, sizeof(*cuts));
	if (!cuts)
		return no_memory(aux);
	queue->cuts = cuts;
	cuts[queue->cut_count++] = (struct perf_cut){ offset, gap };
	return true;
}

/* They only narrow down when kernel code ran that was changed: without, more of it is a gap. */
static bool stop_add(struct perf_aux *aux, struct perf_queue *queue, u64 offset, u64 time)
{
	struct perf_stop *stops;

	if (aux->stops == MARKS_MOST)
		return true;
	aux->stops++;
	stops = list_room(queue->stops, queue->stop_count, sizeof(*stops));
	if (!stops)
		return no_memory(aux);
	queue->stops = stops;
	stops[queue->stop_count++] = (struct perf_stop){ offset, time };
	return true;
}

/* Where a buffer was full, what the CPU did until it was emptied is not there. */
static bool aux_record_take(struct perf_aux *aux, const struct perf_file *file,
			    const struct perf_event *event)
{
	struct perf_queue *queue;
	struct perf_stamp stamp;
	u64 begin, end, flags;

	if (event->size < 24)
		return true;
	begin = get64(event->bytes);
	end = begin + get64(event->bytes + 8);
	flags = get64(event->bytes + 16);
	aux->truncated += !!(flags & AUX_TRUNCATED);
	aux->overwritten += !!(flags & AUX_OVERWRITE);
	aux->partial += !!(flags & AUX_PARTIAL);
	aux->collisions += !!(flags & AUX_COLLISION);
	if (aux->snapshot)
		return true;
	perf_file_stamp(file, event, &stamp);
	/* The buffer of a thread is on any CPU. */
	queue = queue_get(aux, aux->per_cpu && stamp.has & PERF_SAMPLE_BIT_CPU ?
			       stamp.cpu : NO_CPU, stamp.tid);
	if (!queue || (stamp.time && !stop_add(aux, queue, end, stamp.time)))
		return false;
	if (!(flags & (AUX_TRUNCATED | AUX_PARTIAL)))
		return true;
	if (flags & AUX_PARTIAL && !cut_add(aux, queue, begin, KIPT_GAP_MISSING))
		return false;
	return cut_add(aux, queue, end, flags & AUX_TRUNCATED ?
		       KIPT_GAP_STOPPED : KIPT_GAP_MISSING);
}

bool perf_aux_take(struct perf_aux *aux, const struct perf_file *file,
		   const struct perf_event *event)
{
	switch (event->type) {
	case PERF_EVENT_AUXTRACE_INFO:
		return info_take(aux, file, event);
	case PERF_EVENT_TIME_CONV:
		clock_take(aux, event);
		return true;
	case PERF_EVENT_AUXTRACE:
		return piece_take(aux, event);
	case PERF_EVENT_ID_INDEX:
		return index_take(aux, event);
	case PERF_EVENT_SAMPLE:
		return sample_take(aux, file, event);
	case PERF_EVENT_AUX:
		return aux_record_take(aux, file, event);
	}
	return true;
}

void perf_aux_free(struct perf_aux *aux)
{
	size_t i, k;

	for (i = 0; i < aux->queue_count; i++) {
		for (k = 0; k < aux->queues[i].piece_count; k++)
			free(aux->queues[i].pieces[k].bytes);
		free(aux->queues[i].pieces);
		free(aux->queues[i].cuts);
		free(aux->queues[i].stops);
	}
	free(aux->queues);
	lookup_free(&aux->queue_of);
	lookup_free(&aux->place_of);
	aux->queues = NULL;
	aux->queue_count = 0;
}

const struct perf_attr *perf_aux_attr(const struct perf_aux *aux,
				      const struct perf_file *file)
{
	const struct perf_attr *attr;
	size_t i;

	for (i = 0; (attr = perf_file_attr(file, i)); i++) {
		if (attr->type == aux->pmu)
			return attr;
	}
	return NULL;
}

bool perf_aux_check(const struct perf_aux *aux, const struct perf_file *file, bool whole)
{
	const char *path = perf_file_path(file);
	size_t i;
	u64 size = 0;

	if (aux->failed)
		return false;
	for (i = 0; i < aux->queue_count; i++)
		size += aux->queues[i].size;
	if (aux->known && size)
		return true;
	if (!whole || perf_file_bad(file))
		return false;
	if (aux->bad_samples)
		say_error("%s: it has no trace that can be read: %llu samples make no sense",
			  path, (unsigned long long)aux->bad_samples);
	else if (aux->known)
		say_error("%s: it has no trace: nothing ran that was to be traced",
			  path);
	else if (size)
		say_error("%s: it has trace, but not the event that says how it was recorded (AUXTRACE_INFO): it was cut, or changed",
			  path);
	else
		say_error("%s: there is no Intel PT in it; perf record -e intel_pt// -- COMMAND records it",
			  path);
	return false;
}

/* How many bytes are the same; not more than @size. */
static u64 same_bytes(const u8 *a, const u8 *b, u64 size)
{
	u64 i = 0;

	while (i < size && a[i] == b[i])
		i++;
	return i;
}

/* How many bytes at the end of @old begin @new, too. Where the first PSB of @new is
 * in @old both are compared: a PSB is seldom there twice with the same packets
 * after it, as other bytes are. 0: no such place.
 */
static u64 overlap_exact(const u8 *old, u64 old_size, const u8 *new, u64 size)
{
	u64 first = kipt_sync_next(new, size, 0), at = 0, over, same;
	u64 work = OVERLAP_WORK * (old_size + size);

	while ((at = kipt_sync_next(old, old_size, at)) < old_size) {
		over = old_size - at + first;
		if (at++ < first || over > size || over < OVERLAP_LEAST)
			continue;
		same = same_bytes(old + old_size - over, new, over);
		if (same == over)
			return over;
		if (same > work)
			break;
		work -= same;
	}
	return 0;
}

/* The same; *@pads of the last bytes of @old are what perf filled it up with. */
static u64 overlap_find(const u8 *old, u64 old_size, const u8 *new, u64 size,
			u64 *pads)
{
	u64 over;

	for (*pads = 0; *pads < PIECE_ALIGN && *pads < old_size; ++*pads) {
		over = overlap_exact(old, old_size - *pads, new, size);
		if (over)
			return over;
		if (old[old_size - 1 - *pads])
			break;
	}
	*pads = 0;
	return 0;
}

static bool part_add(struct perf_trace *trace, u64 start, u64 end, u32 gap)
{
	struct perf_part *parts;

	if (start == end)
		return true;
	parts = list_room(trace->parts, trace->part_count, sizeof(*parts));
	if (!parts)
		return false;
	trace->parts = parts;
	parts[trace->part_count++] = (struct perf_part){ start, end - start,
							 gap };
	return true;
}

static int cut_compare(const void *left, const void *right)
{
	const struct perf_cut *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->gap < b->gap ? -1 : a->gap > b->gap;
}

/* In order; of several at one place the first says enough. */
static void cuts_sort(struct perf_queue *queue)
{
	struct perf_cut *cuts = queue->cuts, *last = cuts;
	size_t i;

	if (!queue->cut_count)
		return;
	qsort(cuts, queue->cut_count, sizeof(*cuts), cut_compare);
	for (i = 1; i < queue->cut_count; i++) {
		if (cuts[i].offset != last->offset)
			*++last = cuts[i];
	}
	queue->cut_count = last - cuts + 1;
}

/* The first cut at an offset or after it. */
static size_t cut_first(const struct perf_queue *queue, u64 offset)
{
	size_t low = 0, high = queue->cut_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (queue->cuts[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Cuts are offsets in what the queue ever had. */
static bool parts_cut(struct perf_trace *trace, const struct perf_queue *queue,
		      u64 start, u64 offset, u32 gap)
{
	u64 size = trace->size - start, from = 0;
	size_t i;

	for (i = cut_first(queue, offset); i < queue->cut_count; i++) {
		const struct perf_cut *cut = &queue->cuts[i];

		if (cut->offset - offset >= size)
			break;
		if (!part_add(trace, start + from, start + cut->offset - offset,
			      gap))
			return false;
		if (cut->offset - offset > from || !gap)
			gap = cut->gap;
		from = cut->offset - offset;
	}
	return part_add(trace, start + from, trace->size, gap);
}

static int stop_compare(const void *left, const void *right)
{
	const struct perf_stop *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

/* In order of both, the first of each place; a file that is damaged may have others, which
 * say nothing.
 */
static void stops_sort(struct perf_queue *queue)
{
	struct perf_stop *stops = queue->stops;
	size_t i, count = 0;

	if (!queue->stop_count)
		return;
	qsort(stops, queue->stop_count, sizeof(*stops), stop_compare);
	for (i = 0; i < queue->stop_count; i++) {
		if (!count || (stops[i].offset != stops[count - 1].offset &&
			       stops[i].time >= stops[count - 1].time))
			stops[count++] = stops[i];
	}
	queue->stop_count = count;
}

/* Those of pieces that follow each other, from byte @start on, which was @offset. */
static bool stops_take(struct perf_trace *trace, const struct perf_queue *queue, u64 start,
		       u64 offset)
{
	size_t low = 0, high = queue->stop_count, i;
	struct perf_stop *stops;

	while (low < high) {
		i = low + (high - low) / 2;
		if (queue->stops[i].offset < offset)
			low = i + 1;
		else
			high = i;
	}
	for (i = low; i < queue->stop_count; i++) {
		u64 since = queue->stops[i].offset - offset;

		if (since > trace->size - start)
			break;
		stops = list_room(trace->stops, trace->stop_count, sizeof(*stops));
		if (!stops)
			return false;
		trace->stops = stops;
		stops[trace->stop_count++] = (struct perf_stop){
			start + since, queue->stops[i].time
		};
	}
	return true;
}

/* Pieces that follow each other end here. */
static bool pieces_end(struct perf_trace *trace, const struct perf_queue *queue, u64 start,
		       u64 offset, u32 gap)
{
	return parts_cut(trace, queue, start, offset, gap) &&
	       stops_take(trace, queue, start, offset);
}

/* How many bytes, of those that are there, fill up to where a piece begins: zeros. */
static u64 pads_before(const struct perf_trace *trace,
		       const struct perf_piece *piece, const struct perf_joint *joint)
{
	u64 pads = joint->next - piece->offset, i;

	if (piece->offset >= joint->next || pads >= PIECE_ALIGN ||
	    pads > trace->size - joint->start)
		return 0;
	for (i = 1; i <= pads; i++) {
		if (trace->bytes[trace->size - i])
			return 0;
	}
	return pads;
}

/* Takes a piece; where it does not follow the one before, a part ends. */
static bool piece_join(struct perf_trace *trace, const struct perf_aux *aux,
		       const struct perf_queue *queue,
		       const struct perf_piece *piece)
{
	struct perf_joint *joint = &trace->joint;
	const u8 *bytes = trace->bytes + trace->size;
	u64 over = 0, pads = 0, size = piece->size;
	bool first = !trace->size;
	u64 before = trace->size - joint->start;

	/* No more can overlap, and perf fills up by less than that. */
	if (before > size + PIECE_ALIGN)
		before = size + PIECE_ALIGN;
	if (aux->snapshot && !first)
		over = overlap_find(bytes - before, before, bytes, size, &pads);
	else if (!first)
		pads = pads_before(trace, piece, joint);
	trace->size -= pads;
	joint->next -= pads;
	memmove(trace->bytes + trace->size, bytes + over, size - over);
	if (first || (aux->snapshot ? !over : piece->offset != joint->next)) {
		if (!first && !pieces_end(trace, queue, joint->start,
					  joint->offset, joint->gap))
			return false;
		joint->start = trace->size;
		joint->offset = piece->offset;
		joint->gap = first ? 0 : aux->snapshot ? KIPT_GAP_RING :
							 KIPT_GAP_MISSING;
	}
	trace->size += size - over;
	joint->next = piece->offset + size;
	return true;
}

static bool piece_read(const struct perf_piece *piece,
		       const struct perf_file *file, u8 *bytes)
{
	if (!piece->bytes)
		return perf_file_read(file, piece->at, bytes, piece->size);
	memcpy(bytes, piece->bytes, piece->size);
	return true;
}

/* The first time of the first bytes of a piece. */
static bool piece_first(const struct perf_piece *piece,
			const struct perf_file *file, u8 *bytes, u64 *tsc)
{
	struct perf_piece begin = *piece;
	u64 at;

	if (begin.size > FIRST_BYTES)
		begin.size = FIRST_BYTES;
	if (!piece_read(&begin, file, bytes))
		return false;
	/* What perf filled a piece up with is no part of a TSC that the end cuts. */
	for (at = 1; at < PIECE_ALIGN && begin.size && !bytes[begin.size - 1]; at++)
		begin.size--;
	for (at = kipt_sync_next(bytes, begin.size, 0); at < begin.size;
	     at = kipt_sync_next(bytes, begin.size, at + KIPT_PSB_BYTES)) {
		if (kipt_psb_tsc(bytes, begin.size, at, tsc))
			return true;
	}
	return false;
}

bool perf_trace_first(const struct perf_queue *queue,
		      const struct perf_file *file, u64 *tsc)
{
	u8 *bytes = malloc(FIRST_BYTES);
	bool found = false;
	size_t i;

	for (i = 0; bytes && !found && i < queue->piece_count &&
		    i < FIRST_PIECES; i++)
		found = piece_first(&queue->pieces[i], file, bytes, tsc);
	free(bytes);
	return found;
}

/* There are to be @more bytes of room. */
static bool room_make(struct perf_trace *trace, u64 more)
{
	u64 room = trace->size + more;
	u8 *bytes;

	if (room <= trace->room)
		return true;
	/* The first time it is as much as is wanted. */
	room += trace->room ? room / 2 : 0;
	bytes = large_alloc(room);
	if (!bytes) {
		say_errno(ENOMEM, "cannot hold %llu bytes of trace",
			  (unsigned long long)room);
		return false;
	}
	if (trace->size)
		memcpy(bytes, trace->bytes, trace->size);
	free(trace->bytes);
	trace->bytes = bytes;
	trace->room = room;
	return true;
}

/* Of a piece, those bytes that are not read yet, @most at most. What overlaps is compared whole. */
static struct perf_piece piece_rest(const struct perf_trace *trace, const struct perf_aux *aux,
				    const struct perf_queue *queue, u64 most)
{
	struct perf_piece rest = queue->pieces[trace->piece];

	rest.at += trace->done;
	if (rest.bytes)
		rest.bytes += trace->done;
	rest.offset += trace->done;
	rest.size -= trace->done;
	if (rest.size > most && !aux->snapshot)
		rest.size = most;
	return rest;
}

static bool trace_fill(struct perf_trace *trace, const struct perf_aux *aux,
		       const struct perf_queue *queue, const struct perf_file *file, u64 most)
{
	while (trace->piece < queue->piece_count && trace->size < most) {
		struct perf_piece piece = piece_rest(trace, aux, queue, most - trace->size);

		if (!room_make(trace, piece.size) ||
		    !piece_read(&piece, file, trace->bytes + trace->size))
			return false;
		trace->done += piece.size;
		trace->passed += piece.size;
		if (trace->done == queue->pieces[trace->piece].size) {
			trace->piece++;
			trace->done = 0;
		}
		if (!piece_join(trace, aux, queue, &piece)) {
			say_errno(ENOMEM, "cannot hold the list of the trace");
			return false;
		}
	}
	return true;
}

/* Is there a PSB before this one since trace was lost last? Bytes that have none cannot be decoded,
 * and would be a stretch of their own.
 */
static bool psb_before(const struct perf_trace *trace, const struct perf_queue *queue, u64 psb,
		       size_t cut)
{
	const struct perf_joint *joint = &trace->joint;
	u64 most = psb - joint->start, since;

	if (cut) {
		since = joint->offset + most - queue->cuts[cut - 1].offset;
		most = since < most ? since : most;
	}
	return kipt_sync_before(trace->bytes, psb, most) < psb;
}

/*
 * May a stretch end at a PSB? The decoder looks ahead up to the PSB after that, at @next, and no
 * trace may be missing in between; if it may, @end is where what is ahead ends. The decoder does
 * not look back: an OVF before the PSB has to be in its stretch.
 */
static bool may_cut(const struct perf_trace *trace, const struct perf_queue *queue, u64 psb,
		    u64 next, u64 *end)
{
	u64 ahead = trace->size;
	const struct perf_joint *joint = &trace->joint;
	u64 offset = joint->offset + (psb - joint->start);
	size_t i = cut_first(queue, offset);

	if (i < queue->cut_count && queue->cuts[i].offset - offset < trace->size - psb)
		ahead = psb + (queue->cuts[i].offset - offset);
	if (!next || ahead < next || !psb_before(trace, queue, psb, i) ||
	    kipt_flow_ovf_before(trace->bytes + joint->start, psb - joint->start))
		return false;
	*end = ahead;
	return true;
}

/* The first PSB from @at on that begins before @to; else @to or more. A run of 02 82, of which the
 * last 16 bytes are the PSB, may be longer than what is looked at first.
 */
static u64 block_next(const struct perf_trace *trace, u64 at, u64 to)
{
	u64 bound = trace->size - to < KIPT_PSB_BYTES ? trace->size : to + KIPT_PSB_BYTES - 1;

	at = kipt_sync_next(trace->bytes, bound, at);
	if (at == bound || bound - at >= KIPT_PSB_BYTES + 2)
		return at;
	return kipt_sync_next(trace->bytes, trace->size, at);
}

/* The last PSB from @begin on and before @to where a stretch may end; else it is @found.
 * @next is the first PSB from @to on, or 0, and then the first from @begin on.
 */
static u64 block_search(const struct perf_trace *trace, const struct perf_queue *queue,
			u64 begin, u64 to, u64 *next, u64 *end)
{
	u64 at, first = 0, last = 0, found = 0;

	for (at = block_next(trace, begin, to); at < to;
	     at = block_next(trace, at + KIPT_PSB_BYTES, to)) {
		if (last && may_cut(trace, queue, last, at, end))
			found = last;
		first = first ? first : at;
		last = at;
	}
	if (last && may_cut(trace, queue, last, *next, end))
		found = last;
	*next = first ? first : *next;
	return found;
}

/* Bytes at the end that a snapshot to come may overlap. */
static u64 compared_bytes(const struct perf_aux *aux, const struct perf_queue *queue)
{
	u64 most = 0;
	size_t i;

	if (!aux->snapshot)
		return 0;
	for (i = 0; i < queue->piece_count; i++) {
		if (queue->pieces[i].size > most)
			most = queue->pieces[i].size;
	}
	return most + PIECE_ALIGN;
}

/* Where a stretch may end, and where what is ahead of it ends: the last PSB before @bound, or
 * where pieces begin that do not follow those before; or 0.
 */
static u64 cut_find(const struct perf_trace *trace, const struct perf_queue *queue, u64 bound,
		    u64 *end)
{
	u64 from = trace->joint.start, begin = bound, next, found = 0, to;

	next = bound < trace->size ? kipt_sync_next(trace->bytes, trace->size, bound) : 0;
	if (next == trace->size)
		next = 0;
	while (begin > from + 1 && !found) {
		to = begin;
		begin = to - from > SEARCH_BYTES ? to - SEARCH_BYTES : from + 1;
		found = block_search(trace, queue, begin, to, &next, end);
	}
	if (found)
		return found;
	*end = from;
	return from;
}

/* Reads until the stretch may end, or all is read. */
static bool trace_cut(struct perf_trace *trace, const struct perf_aux *aux,
		      const struct perf_queue *queue, const struct perf_file *file, u64 most,
		      u64 *cut)
{
	u64 compared = compared_bytes(aux, queue);

	do {
		if (!trace_fill(trace, aux, queue, file, most))
			return false;
		trace->end = trace->size;
		*cut = trace->size;
		if (trace->piece < queue->piece_count)
			*cut = cut_find(trace, queue, trace->size < compared ? 0 :
					trace->size - compared, &trace->end);
		most = trace->size * 2;
	} while (!*cut && trace->piece < queue->piece_count);
	return true;
}

static bool ahead_keep(struct perf_trace *trace, u64 cut)
{
	struct perf_joint *joint = &trace->joint;

	trace->ahead_size = trace->size - cut;
	trace->size = cut;
	trace->ahead = malloc(trace->ahead_size + 1);
	if (!trace->ahead)
		return false;
	memcpy(trace->ahead, trace->bytes + cut, trace->ahead_size);
	if (cut > joint->start)
		joint->gap = 0;
	joint->offset += cut - joint->start;
	joint->start = 0;
	return true;
}

/* The stretch begins with what was ahead of the one before. */
static bool trace_begin(struct perf_trace *trace, const struct perf_queue *queue, u64 most)
{
	u64 size = trace->ahead_size, room = queue->size - size;

	free(trace->bytes);
	trace->bytes = NULL;
	trace->room = 0;
	trace->size = 0;
	trace->goes_on = size;
	trace->part_count = 0;
	trace->stop_count = 0;
	trace->label_count = 0;
	if (!room_make(trace, size + (room < most ? room : most)))
		return false;
	if (size)
		memcpy(trace->bytes, trace->ahead, size);
	trace->size = size;
	free(trace->ahead);
	trace->ahead = NULL;
	trace->ahead_size = 0;
	return true;
}

bool perf_trace_read(struct perf_trace *trace, const struct perf_aux *aux,
		     struct perf_queue *queue, const struct perf_file *file, u64 most)
{
	struct perf_joint joint;
	u64 cut;

	if (!trace->piece && !trace->done) {
		cuts_sort(queue);
		stops_sort(queue);
	}
	if (!trace_begin(trace, queue, most) ||
	    !trace_cut(trace, aux, queue, file, most, &cut))
		return false;
	joint = trace->joint;
	/* Those before the last joint have ended. */
	if (!ahead_keep(trace, cut) ||
	    (cut > joint.start && !pieces_end(trace, queue, joint.start, joint.offset, joint.gap))) {
		say_errno(ENOMEM, "cannot hold the list of the trace");
		return false;
	}
	if (trace->part_count && trace->parts[0].gap)
		trace->goes_on = false;
	return true;
}

void perf_trace_free(struct perf_trace *trace)
{
	free(trace->bytes);
	free(trace->ahead);
	free(trace->parts);
	free(trace->stops);
	free(trace->labels);
	memset(trace, 0, sizeof(*trace));
}

u64 perf_clock_tsc(const struct perf_clock *clock, u64 time)
{
	if (time <= clock->zero && clock->zero <= (u64)1 << 63)
		return 0;
	return ((unsigned __int128)(time - clock->zero) << clock->shift) /
	       clock->mult;
}

u32 perf_clock_khz(const struct perf_clock *clock)
{
	return clock->mult ? ((unsigned __int128)1000000 << clock->shift) /
			     clock->mult : 0;
}
