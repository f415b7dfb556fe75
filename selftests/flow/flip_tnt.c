// SPDX-License-Identifier: GPL-2.0-only
/*
 * flip_tnt IN OUT: copies a raw trace with one bit changed, the outcome of a
 * conditional branch in a short TNT packet near the middle. Packets are found
 * with libipt, so that the change is one that matters. Negative control of
 * everything that decodes. Runs in user space on the host.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <intel-pt.h>

/* Lowest of a TNT packet's result bits. */
#define TNT_YOUNGEST	0x02

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	uint8_t *data = NULL;
	long end = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;

	if (end > 0) {
		rewind(f);
		*size = (size_t)end;
		data = malloc(*size);
		if (data && fread(data, 1, *size, f) != *size)
			data = NULL;
	}
	if (!data)
		fprintf(stderr, "flip_tnt: cannot read %s\n", path);
	if (f)
		fclose(f);
	return data;
}

/* Offset of the first short TNT from the middle on, or 0. */
static uint64_t find_tnt(struct pt_packet_decoder *decoder, uint64_t middle)
{
	struct pt_packet packet;
	uint64_t offset;

	while (pt_pkt_sync_forward(decoder) >= 0) {
		for (;;) {
			if (pt_pkt_get_offset(decoder, &offset) ||
			    pt_pkt_next(decoder, &packet, sizeof(packet)) < 0)
				break;
			if (packet.type == ppt_tnt_8 && offset >= middle)
				return offset;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	uint64_t offset;
	uint8_t *data;
	size_t size;
	FILE *out;

	if (argc != 3) {
		fprintf(stderr, "usage: flip_tnt IN OUT\n");
		return 2;
	}
	data = read_file(argv[1], &size);
	if (!data)
		return 2;
	pt_config_init(&config);
	config.begin = data;
	config.end = data + size;
	decoder = pt_pkt_alloc_decoder(&config);
	offset = decoder ? find_tnt(decoder, size / 2) : 0;
	if (!offset) {
		fprintf(stderr, "flip_tnt: no TNT packet in the second half\n");
		return 2;
	}
	data[offset] ^= TNT_YOUNGEST;
	out = fopen(argv[2], "w");
	if (!out || fwrite(data, 1, size, out) != size || fclose(out)) {
		fprintf(stderr, "flip_tnt: cannot write %s\n", argv[2]);
		return 2;
	}
	printf("flipped bit 1 of the byte at offset %" PRIx64 "\n", offset);
	pt_pkt_free_decoder(decoder);
	free(data);
	return 0;
}
