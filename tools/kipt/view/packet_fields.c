// SPDX-License-Identifier: GPL-2.0-only
/*
 * Payloads in words, see packet_fields.h ("Trace Packets and Data Types").
 */
#include "packet_fields.h"

static void add_number(struct packet_fields *fields, const char *name,
		       u64 value, bool hex)
{
	fields->list[fields->count++] = (struct packet_field){
		.name = name, .value = value, .hex = hex,
	};
}

static void add_text(struct packet_fields *fields, const char *name,
		     const char *text)
{
	fields->list[fields->count++] = (struct packet_field){
		.name = name, .text = text,
	};
}

/* The oldest result first, as the manual draws them. */
static void tnt_fields(const struct kipt_packet *p,
		       struct packet_fields *fields)
{
	u32 i, size = p->size < sizeof(fields->bits) ? p->size :
						       sizeof(fields->bits) - 1;

	for (i = 0; i < size; i++)
		fields->bits[i] = p->value >> (size - 1 - i) & 1 ? 'T' : 'N';
	fields->bits[size] = 0;
	add_text(fields, "bits", fields->bits);
	add_number(fields, "count", p->size, false);
}

static void ip_fields(const struct kipt_packet *p, u64 ip,
		      struct packet_fields *fields)
{
	if (p->size)
		add_number(fields, "ip", ip, true);
	else
		add_text(fields, "ip", "suppressed");
	add_number(fields, "ipbytes", p->size, false);
}

static void mode_fields(const struct kipt_packet *p,
			struct packet_fields *fields)
{
	u64 mode = p->value;

	if (p->type == KIPT_PACKET_MODE_TSX) {
		add_text(fields, "tsx", mode & KIPT_MODE_TSX_ABORT ? "abort" :
			 mode & KIPT_MODE_TSX_INTX ? "begin" : "commit");
		return;
	}
	add_number(fields, "bits", mode & KIPT_MODE_EXEC_L ? 64 :
		   mode & KIPT_MODE_EXEC_D ? 32 : 16, false);
	add_number(fields, "if", !!(mode & KIPT_MODE_EXEC_IF), false);
}

static void power_fields(const struct kipt_packet *p,
			 struct packet_fields *fields)
{
	switch (p->type) {
	case KIPT_PACKET_MWAIT:
		add_number(fields, "hints", p->aux, true);
		add_number(fields, "ext", p->value, true);
		break;
	case KIPT_PACKET_PWRE:
		add_number(fields, "state", p->aux >> 4 & 15, false);
		add_number(fields, "sub", p->aux & 15, false);
		add_number(fields, "hw", !!(p->flags & KIPT_PF_HW), false);
		break;
	default:
		add_number(fields, "last", p->aux >> 4 & 15, false);
		add_number(fields, "deepest", p->aux & 15, false);
		add_number(fields, "wake", p->value, true);
	}
}

static void block_fields(const struct kipt_packet *p,
			 struct packet_fields *fields)
{
	if (p->type == KIPT_PACKET_BBP) {
		add_number(fields, "block", p->aux, false);
		add_number(fields, "size", p->size, false);
		return;
	}
	add_number(fields, "id", p->aux, false);
	add_number(fields, "value", p->value, true);
}

static void software_fields(const struct kipt_packet *p,
			    struct packet_fields *fields)
{
	bool fup = p->flags & KIPT_PF_IP;

	switch (p->type) {
	case KIPT_PACKET_PTW:
		add_number(fields, "value", p->value, true);
		add_number(fields, "size", p->size, false);
		break;
	case KIPT_PACKET_CFE:
		add_number(fields, "event", p->value, false);
		add_number(fields, "vector", p->aux, false);
		break;
	case KIPT_PACKET_EVD:
		add_number(fields, "event", p->aux, false);
		add_number(fields, "value", p->value, true);
		return;
	case KIPT_PACKET_TRIG:
		add_number(fields, "triggers", p->aux, true);
		if (p->flags & KIPT_PF_ICNT)
			add_number(fields, "icnt", p->value, false);
		add_number(fields, "mult", !!(p->flags & KIPT_PF_MULT), false);
		break;
	}
	add_number(fields, "fup", fup, false);
}

static void time_fields(const struct kipt_packet *p,
			struct packet_fields *fields)
{
	switch (p->type) {
	case KIPT_PACKET_CBR:
		add_number(fields, "ratio", p->value, false);
		break;
	case KIPT_PACKET_TSC:
		add_number(fields, "tsc", p->value, true);
		break;
	case KIPT_PACKET_MTC:
		add_number(fields, "ctc", p->value, true);
		break;
	case KIPT_PACKET_TMA:
		add_number(fields, "ctc", p->value, true);
		add_number(fields, "fc", p->aux, true);
		break;
	default:
		add_number(fields, "cycles", p->value, false);
	}
	if (p->flags & KIPT_PF_BROKEN)
		add_text(fields, "broken", "erratum");
}

void packet_fields_make(const struct kipt_packet *p, u64 ip,
			struct packet_fields *fields)
{
	fields->count = 0;
	switch (p->type) {
	case KIPT_PACKET_TNT:
		tnt_fields(p, fields);
		break;
	case KIPT_PACKET_TIP:
	case KIPT_PACKET_TIP_PGE:
	case KIPT_PACKET_TIP_PGD:
	case KIPT_PACKET_FUP:
		ip_fields(p, ip, fields);
		break;
	case KIPT_PACKET_MODE_EXEC:
	case KIPT_PACKET_MODE_TSX:
		mode_fields(p, fields);
		break;
	case KIPT_PACKET_PIP:
		add_number(fields, "cr3", p->value, true);
		add_number(fields, "nr", !!(p->flags & KIPT_PF_NR), false);
		break;
	case KIPT_PACKET_VMCS:
		add_number(fields, "base", p->value, true);
		break;
	case KIPT_PACKET_MNT:
		add_number(fields, "value", p->value, true);
		break;
	case KIPT_PACKET_CBR:
	case KIPT_PACKET_TSC:
	case KIPT_PACKET_MTC:
	case KIPT_PACKET_TMA:
	case KIPT_PACKET_CYC:
		time_fields(p, fields);
		break;
	case KIPT_PACKET_MWAIT:
	case KIPT_PACKET_PWRE:
	case KIPT_PACKET_PWRX:
		power_fields(p, fields);
		break;
	case KIPT_PACKET_BBP:
	case KIPT_PACKET_BIP:
		block_fields(p, fields);
		break;
	case KIPT_PACKET_PTW:
	case KIPT_PACKET_CFE:
	case KIPT_PACKET_EVD:
	case KIPT_PACKET_TRIG:
	case KIPT_PACKET_EXSTOP:
	case KIPT_PACKET_BEP:
		software_fields(p, fields);
		break;
	}
}
