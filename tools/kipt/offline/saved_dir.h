/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What 'kipt record --save DIR' put into DIR, found again for decoding.
 */
#ifndef KIPT_SAVED_DIR_H
#define KIPT_SAVED_DIR_H

#include "../../../kmod/decode/flow.h"
#include "../symbols/code_image.h"

/**
 * struct saved_dir - the files of a folder that are read later
 * @image: its pages of code, the reader's until saved_dir_free(); NULL: there is no folder
 * @kallsyms: path, "" if there is none
 * @maps: path, "" if there is none
 * @tsc_khz: from meta.json
 */
struct saved_dir {
	struct image *image;
	char kallsyms[4096];
	char maps[4096];
	u32 tsc_khz;
};

/**
 * saved_dir_add() - take a folder
 * @saved: filled
 * @dir: the folder
 * @config: gets the clocks and address ranges of meta.json
 *
 * Return: true, or false after a sentence.
 */
bool saved_dir_add(struct saved_dir *saved, const char *dir, struct kipt_flow_config *config);

/**
 * saved_dir_free() - free its code
 * @saved: was filled, or all zero
 */
void saved_dir_free(struct saved_dir *saved);

#endif /* KIPT_SAVED_DIR_H */
