/** What a notice is about. */
export const noticeCategories = [
  'filled',
  'placed',
  'rejected',
  'denied',
  'unknown',
  'protection',
  'limit',
  'paused',
  'alarm',
  'heartbeat',
] as const;
export type NoticeCategory = (typeof noticeCategories)[number];

/** `on`: told; `silent`: told without a sound, where the service can; `off`: not told. */
export const noticeLevels = ['on', 'silent', 'off'] as const;
export type NoticeLevel = (typeof noticeLevels)[number];

export const channelNames = ['telegram', 'slack', 'discord', 'ntfy', 'email', 'webhook'] as const;
export type ChannelName = (typeof channelNames)[number];

export type NoticeLevels = Readonly<Record<NoticeCategory, NoticeLevel>>;

/** What is told, and where. */
export interface NoticeSettings {
  /** Empty: nobody is told. */
  readonly channels: readonly ChannelName[];
  readonly levels: NoticeLevels;
  /** What accounts set for themselves. */
  readonly accounts: Readonly<Record<string, Partial<NoticeLevels>>>;
  /** The time of day of the heartbeat, `HH:MM`. */
  readonly heartbeatAt: string;
  /** In which that time is meant, as a name of the tz database. */
  readonly timeZone: string;
}

export const defaultLevels: NoticeLevels = {
  filled: 'on',
  placed: 'silent',
  rejected: 'on',
  denied: 'on',
  unknown: 'on',
  protection: 'on',
  limit: 'on',
  paused: 'on',
  alarm: 'on',
  heartbeat: 'silent',
};

/** @param account null: a notice of no single account */
export function levelOf(
  { levels, accounts }: NoticeSettings,
  account: string | null,
  category: NoticeCategory,
): NoticeLevel {
  const own = account !== null && Object.hasOwn(accounts, account) ? accounts[account] : undefined;
  return own?.[category] ?? levels[category];
}
