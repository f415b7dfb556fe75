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
 * @used: there is such a folder
 * @kallsyms: path, "" if there is none
 * @maps: path, "" if there is none
 * @tsc_khz: from meta.json
 */
struct saved_dir {
	bool used;
	char kallsyms[4096];
	char maps[4096];
	u32 tsc_khz;
};

/**
 * saved_dir_add() - take a folder
 * @saved: filled
 * @dir: the folder
 * @image: gets its pages of code
 * @config: gets the clocks and address ranges of meta.json
 *
 * Return: true, or false after a sentence.
 */
bool saved_dir_add(struct saved_dir *saved, const char *dir,
		   struct image *image, struct kipt_flow_config *config);

#endif /* KIPT_SAVED_DIR_H */
