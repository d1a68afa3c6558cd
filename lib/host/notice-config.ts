import * as z from 'zod';
import {
  channelNames,
  defaultLevels,
  type NoticeLevels,
  type NoticeSettings,
  noticeCategories,
  noticeLevels,
} from '../notices/notice-settings.ts';
import { isTimeZone } from './cron.ts';

const Level = z.enum(noticeLevels);

/** What an account sets for itself. */
export const OwnLevelsSchema = z.partialRecord(z.enum(noticeCategories), Level);

export const NoticesSchema = z.strictObject({
  channels: z
    .array(z.enum(channelNames))
    .refine((names) => new Set(names).size === names.length, 'names a channel twice')
    .default([]),
  tell: OwnLevelsSchema.default({}),
  heartbeatAt: z
    .string()
    .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time like "08:00"')
    .default('08:00'),
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be a name of the tz database, for example "Europe/Kyiv"')
    .default('Etc/UTC'),
});

type OwnLevels = z.output<typeof OwnLevelsSchema>;

export function noticeSettingsOf(
  { channels, tell, heartbeatAt, timeZone }: z.output<typeof NoticesSchema>,
  accounts: Readonly<Record<string, { readonly notices: OwnLevels }>>,
): NoticeSettings {
  return {
    channels,
    levels: { ...defaultLevels, ...withoutAbsent(tell) },
    accounts: Object.fromEntries(
      Object.entries(accounts)
        .map(([name, { notices }]) => [name, withoutAbsent(notices)] as const)
        .filter(([, levels]) => Object.keys(levels).length > 0),
    ),
    heartbeatAt,
    timeZone,
  };
}

/** A category that is there and undefined would hide the one that it stands for. */
function withoutAbsent(levels: OwnLevels): Partial<NoticeLevels> {
  return Object.fromEntries(Object.entries(levels).filter(([, level]) => level !== undefined));
}
