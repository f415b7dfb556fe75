/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of its own that records what others map, from before a session begins until
 * it has stopped: kipt start --maps.
 */
#ifndef KIPT_MAP_RECORDER_H
#define KIPT_MAP_RECORDER_H

#include "../kernel/session_words.h"

/**
 * struct map_recorder - the process
 * @pid: its number
 * @begin: the session's id is written there; -1: there is no process
 */
struct map_recorder {
	pid_t pid;
	int begin;
};

/**
 * map_recorder_start() - have it record
 * @recorder: filled
 * @path: the recording, a file that is none is not replaced
 * @caps: of the CPUs
 *
 * Return: true, it records; false after a sentence.
 */
bool map_recorder_start(struct map_recorder *recorder, const char *path,
			const struct kipt_caps *caps);

/**
 * map_recorder_follow() - have it end with a session
 * @recorder: was started
 * @id: the session; 0: it ends now, and its file goes
 *
 * The file is complete some time after the session has stopped, or was deleted;
 * until then it is locked.
 */
void map_recorder_follow(struct map_recorder *recorder, u32 id);

#endif /* KIPT_MAP_RECORDER_H */
