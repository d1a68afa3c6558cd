import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { type RaisedAlarm, readAlarms } from './alarms.ts';
import { type Evidence, nameOf, type Violation } from './evidence.ts';
import type { NoticeFacts } from './facts.ts';
import { type ChaosChannel, noticeChannels, type ShownNotice } from './notice-service.ts';
import { tradingAccounts } from './relay-config.ts';

/** Checks that the reader of each service was told of everything, once, and of nothing that the exchange does not confirm. */
export function checkNotices(evidence: Evidence): readonly Violation[] {
  const { notices } = evidence;
  if (notices === null) return [];
  const journal = evidence.writings.filter(({ place }) => place === 'journal');
  const mayBeUnnoted = (atMs: number) => isUnnoted(atMs, notices) || isOwedToTheEnd(atMs, notices);
  return noticeChannels.flatMap((channel) => {
    const read = readChannel(channel, notices, mayBeUnnoted);
    return [
      ...checkUnknown(evidence, read),
      ...checkAlarms(readAlarms(journal), mayBeUnnoted, read),
      ...checkRepeats(read),
      ...checkCounts(evidence, read),
      ...checkTruth(evidence, read),
    ];
  });
}

/** What one service has shown. */
interface Read {
  readonly channel: ChaosChannel;
  readonly lines: readonly Line[];
  /** How many things of each category its messages told of: in all, and in those that cannot have come before. */
  readonly all: ReadonlyMap<string, number>;
  readonly sure: ReadonlyMap<string, number>;
}

/** One thing that was told. */
interface Line {
  readonly account: string;
  readonly headline: string;
  readonly detail: string;
  readonly atMs: number;
  /** Whether the relay knows that it was told: it must not tell it again. */
  readonly isSure: boolean;
}

/** Whether what a process did at a time was perhaps never noted: it ended before a write succeeded. */
type MayBeUnnoted = (atMs: number) => boolean;

/** A process that ends so soon after an act has perhaps not noted it. */
const unnotedMs = 2_000;

function isUnnoted(atMs: number, { endedAtMs }: NoticeFacts): boolean {
  return endedAtMs.some((endMs) => endMs >= atMs && endMs - atMs < unnotedMs);
}

function readChannel(channel: ChaosChannel, notices: NoticeFacts, mayBeUnnoted: MayBeUnnoted): Read {
  const [all, sure] = [new Map<string, number>(), new Map<string, number>()];
  const shown = notices.shown.filter((notice) => notice.channel === channel);
  const lines = shown.flatMap((notice) => {
    const isSure = notice.trouble === null && !mayBeUnnoted(notice.atMs);
    for (const [category, count] of countsOf(notice))
      for (const counts of isSure ? [all, sure] : [all])
        counts.set(category, (counts.get(category) ?? 0) + count);
    return notice.lines.map((text) => ({ ...readLine(text), atMs: notice.atMs, isSure }));
  });
  return { channel, lines, all, sure };
}

/** The figures of a title, such as `3 notices: 2 rejected, 1 alarm`; of a notice of one thing nothing is known but its text. */
function countsOf({ title, lines }: ShownNotice): readonly (readonly [string, number])[] {
  const [, list] = /^\d+ notices: (.*)$/.exec(title) ?? [];
  if (list === undefined) return lines.flatMap((line) => categoryOf(readLine(line).headline) ?? []);
  return list.split(', ').map((part) => {
    const [count = '', ...words] = part.split(' ');
    return [words.join(' '), Number(count)] as const;
  });
}

/** What the audit counts, and how it is said. */
const said: readonly (readonly [category: string, words: RegExp])[] = [
  ['placed', /: (?:accepted by the exchange|cancelled|nothing to do|rehearsed only)/],
  ['rejected', /: (?:REJECTED|NOT SENT|there is no such order)/],
  ['denied', /: DENIED| REFUSED$/],
];

function categoryOf(headline: string): readonly (readonly [string, number])[] | undefined {
  // An order that was unknown, one of the relay itself, and the end of an order that was followed have other categories.
  if (/now known: |^(?:stop-loss|take-profit|order) of /.test(headline)) return undefined;
  const found = said.find(([, words]) => words.test(headline));
  return found && [[found[0], 1]];
}

/** `main · ALARM: a message — signalId: 1`; what is told late says when it happened. */
function readLine(text: string): Pick<Line, 'account' | 'headline' | 'detail'> {
  const [, account = '', rest = ''] = /^(?:([\w-]+) · )?(.*)$/s.exec(text) ?? [];
  const [head = '', ...detail] = rest.split(' — ');
  return {
    account,
    headline: head.replace(/ \(at \d{4}-\d\d-\d\d \d\d:\d\d UTC\)$/, ''),
    detail: detail.join(' — '),
  };
}

/** Every outcome that was unknown at some time was an alarm, which names the signal. */
function checkUnknown({ entries }: Evidence, { channel, lines }: Read): readonly Violation[] {
  const told = new Set(
    lines.flatMap(({ account, detail }) => {
      const [, signalId] = /(?:^|; )signalId: ([^;]+)/.exec(detail) ?? [];
      return signalId === undefined ? [] : [nameOf({ account, signalId })];
    }),
  );
  return entries
    .filter(({ steps }) => steps.some(({ status }) => status === 'unknown'))
    .filter((entry) => !told.has(nameOf(entry)))
    .map((entry) => ({
      wrong: 'untold',
      what: `${channel} was not told of an unknown outcome`,
      details: [nameOf(entry), ...entry.steps.map(({ status, note }) => `${status}: ${note}`)],
    }));
}

/**
 * An alarm of the log was told, unless whatever raised it ended before it could note that. One of an unknown outcome may have
 * several messages, and is told with the first.
 */
function checkAlarms(
  alarms: readonly RaisedAlarm[],
  mayBeUnnoted: MayBeUnnoted,
  { channel, lines }: Read,
): readonly Violation[] {
  const raised = alarms.filter(({ atMs }) => !mayBeUnnoted(atMs));
  const told = Map.groupBy(
    lines.filter(({ headline }) => headline.startsWith(alarmPrefix)),
    ({ account, headline }) => `${account} ${headline}`,
  );
  const messagesOf = Map.groupBy(alarms, ({ name }) => name);
  return raised
    .filter(({ name, account, message, signalId, market }) => {
      const messages =
        name === 'outcome_unknown' ? (messagesOf.get(name) ?? []).map((other) => other.message) : [message];
      const alike = [...new Set(messages)].flatMap(
        (text) => told.get(`${account} ${cutHeadline(alarmPrefix + text)}`) ?? [],
      );
      const holds = (field: string, value: string, detail: string) =>
        value === '' || detail.includes(`${field}: ${value}`) || detail.endsWith('…');
      return !alike.some(
        ({ detail }) => holds('signalId', signalId, detail) && holds('market', market, detail),
      );
    })
    .map(({ name, account, message, signalId, market }) => ({
      wrong: 'untold',
      what: `${channel} was not told of an alarm: ${name}`,
      details: [`${account} ${signalId} ${market}`, message],
    }));
}

const alarmPrefix = 'ALARM: ';
const mostHeadline = 160;

function cutHeadline(text: string): string {
  return text.length <= mostHeadline ? text : `${text.slice(0, mostHeadline - 1)}…`;
}

/** Whether the disk was full from then on until the process ended: what the disk does not take ends with the process. */
function isOwedToTheEnd(atMs: number, { endedAtMs, fullDisks }: NoticeFacts): boolean {
  const endMs = endedAtMs.find((end) => end >= atMs);
  if (endMs === undefined) return false;
  return fullDisks.some(({ fromMs, untilMs }) => fromMs - unnotedMs < atMs && endMs < untilMs + unnotedMs);
}

/** Within so long the same alarm is told once. */
const sameNewsMs = 600_000;

/** An alarm comes again only when the relay does not know that it was told. */
function checkRepeats({ channel, lines }: Read): readonly Violation[] {
  const alarms = lines.filter(({ headline }) => headline.startsWith(alarmPrefix));
  return [...Map.groupBy(alarms, identityOf).values()].flatMap((copies) => {
    const needless = copies.filter((copy, index) => {
      const before = copies[index - 1];
      return before?.isSure === true && copy.atMs - before.atMs < sameNewsMs;
    });
    return needless.map(({ account, headline, detail }) => ({
      wrong: 'retold' as const,
      what: `${channel} was told of an alarm again, although it had answered`,
      details: [`${copies.length} copies for ${account}`, headline, detail],
    }));
  });
}

/** The words of an alarm and what it names; its figures may differ. */
function identityOf({ account, headline, detail }: Line): string {
  const named = detail.split('; ').filter((part) => !/^(?:note|reason): |: [\d.-]+$/.test(part));
  return JSON.stringify([account, headline, named]);
}

const statusesOf: Readonly<Record<string, readonly Status[]>> = {
  placed: ['placed', 'cancelled', 'satisfied', 'dry_run'],
  rejected: ['rejected', 'not_sent', 'not_placed'],
  denied: ['denied', 'invalid'],
};

/** Most outcomes are counted, not listed: so many were told as there are, and more only where an answer was lost. */
function checkCounts({ entries }: Evidence, { channel, all, sure }: Read): readonly Violation[] {
  const plain = entries.filter(isPlain).flatMap(({ steps }) => steps);
  return Object.entries(statusesOf).flatMap(([category, statuses]): readonly Violation[] => {
    const count = plain.filter(({ status }) => statuses.includes(status)).length;
    const [most, least] = [all.get(category) ?? 0, sure.get(category) ?? 0];
    const details = [`the ledger has ${count}; ${most} were told, ${least} of them for sure`];
    const outcomes = `outcomes of the category ${category}`;
    if (most < count)
      return [{ wrong: 'untold', what: `${channel} was not told of all ${outcomes}`, details }];
    if (least > count)
      return [{ wrong: 'retold', what: `${channel} was told of too many ${outcomes}`, details }];
    return [];
  });
}

function isPlain({ signal, steps }: Entry): boolean {
  return signal?.action !== 'protect' && steps.every(({ status }) => status !== 'unknown');
}

/** What was told of orders and fills for sure is no more than the exchange has. */
function checkTruth(evidence: Evidence, { channel, lines }: Read): readonly Violation[] {
  const sure = lines.filter(({ isSure }) => isSure);
  const told = [sumOf(sure.flatMap(readPlaced)), sumOf(sure.flatMap(readFilled))] as const;
  const has = [sumOf(evidence.created.map(placedOf)), sumOf(evidence.exchange.orders.map(filledOf))] as const;
  return (['accepted orders', 'fills'] as const).flatMap((what, index) =>
    [...(told[index] ?? [])]
      .filter(([key, amount]) => amount.gt(has[index]?.get(key) ?? zero))
      .map(([key, amount]) => ({
        wrong: 'disagreement' as const,
        what: `${channel} was told of more ${what} than the exchange has`,
        details: [
          `${key}: told ${formatDecimal(amount)}, the exchange has ${formatDecimal(has[index]?.get(key) ?? zero)}`,
        ],
      })),
  );
}

type Amount = readonly [key: string, amount: Decimal];
type Order = Evidence['created'][number];

function sumOf(amounts: readonly Amount[]): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const [key, amount] of amounts) sums.set(key, (sums.get(key) ?? zero).plus(amount));
  return sums;
}

/** `buy 0.01 BTC_USDT: …`, or `buy BTC_USDT for 600 USDT: …` */
function readPlaced({ account, headline }: Line): readonly Amount[] {
  const order =
    /^(?<side>buy|sell) (?<amount>[\d.]+) (?<market>\w+): accepted by the exchange$/.exec(headline) ??
    /^(?<side>buy) (?<market>\w+) for (?<amount>[\d.]+) \w+: accepted by the exchange$/.exec(headline);
  const { side, amount, market } = order?.groups ?? {};
  return amount === undefined
    ? []
    : [[`${tradingAccounts[account]} ${side} ${formatDecimal(parseDecimal(amount))} ${market}`, one]];
}

function placedOf({ account, side, amount, market }: Order): Amount {
  return [`${account} ${side} ${formatDecimal(parseDecimal(amount))} ${market}`, one];
}

function readFilled({ account, headline }: Line): readonly Amount[] {
  const [, verb, amount, market] = /(?:^|: )(bought|sold) ([\d.]+) (\w+) at /.exec(headline) ?? [];
  if (amount === undefined) return [];
  return [
    [`${tradingAccounts[account]} ${verb === 'bought' ? 'buy' : 'sell'} ${market}`, parseDecimal(amount)],
  ];
}

function filledOf({ account, side, market, filled }: Order): Amount {
  return [`${account} ${side} ${market}`, parseDecimal(filled)];
}

const one = parseDecimal('1');
