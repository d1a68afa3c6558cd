export type LogLevel = 'info' | 'warn' | 'error';

interface CatalogueRow {
  /** The HTTP status of a response to a request that ends with this error. */
  readonly httpStatus: number;
  readonly logLevel: LogLevel;
  /** Whether the same request can succeed later, unchanged. */
  readonly retryMayHelp: boolean;
  /** The `Retry-After` of the response; absent when the sender is not asked to wait and try again. */
  readonly retryAfterSeconds?: number;
  /** What the operator should do. */
  readonly action: string;
}

/** Every error that the relay can report, one row each. The codes are stable. */
export const catalogue = {
  unauthorized: {
    httpStatus: 401,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Copy the webhook URL again: `npx relay webhook` prints it.',
  },
  not_found: {
    httpStatus: 404,
    logLevel: 'info',
    retryMayHelp: false,
    action: 'Post alerts to /signals/{account}/{token}.',
  },
  method_not_allowed: {
    httpStatus: 405,
    logLevel: 'info',
    retryMayHelp: false,
    action: 'Send the alert with POST.',
  },
  request_timeout: {
    httpStatus: 408,
    logLevel: 'info',
    retryMayHelp: true,
    action: 'Nothing was stored: send headers and body without a pause.',
  },
  body_too_large: {
    httpStatus: 413,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Shorten the alert message to at most 16 KiB.',
  },
  invalid_json: {
    httpStatus: 400,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Correct the alert message in TradingView; `npx relay webhook` prints a template.',
  },
  invalid_signal: {
    httpStatus: 400,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Correct the message, in TradingView or in your file, as each issue says.',
  },
  stale: {
    httpStatus: 400,
    logLevel: 'warn',
    retryMayHelp: false,
    action:
      'The alert arrived too late, and nothing was done. If it is still meant, send it again with the time of now.',
  },
  /** TradingView retries after a 503, every 5 s and at most three times; after a 429 it does not. */
  rate_limited: {
    httpStatus: 503,
    logLevel: 'warn',
    retryMayHelp: true,
    retryAfterSeconds: 5,
    action:
      'Send the same alert again: it is accepted once fewer signals came in the last minute. If this happens often, send fewer alerts, or raise maxSignalsPerMinute of the account.',
  },
  flooded: {
    httpStatus: 429,
    logLevel: 'warn',
    retryMayHelp: true,
    retryAfterSeconds: 60,
    action:
      'Stop the sender, or raise maxSignalsPerMinute of the account; the refused alerts led to no order.',
  },
  not_stored: {
    httpStatus: 503,
    logLevel: 'error',
    retryMayHelp: true,
    action:
      'Send the same bytes again within half a minute: that completes what is missing and never creates a second order. Later, look with `npx relay signals` first: an alert without id and time would be a new one.',
  },
  config_invalid: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Correct relay.config.ts, or the file of --config, as the message says.',
  },
  config_missing: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Follow the message: the relay does not start without its configuration.',
  },
  secrets_missing: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Store the exchange key and webhook token of the account.',
  },
  secrets_exposed: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Follow the message; replace the tokens and keys if others on this machine may have read them.',
  },
  data_folder_newer: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Run the release that wrote it, or choose another folder with --data.',
  },
  folder_in_use: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: true,
    action: 'Stop the other relay, or choose another folder with --data.',
  },
  rehearsal_in_use: {
    httpStatus: 409,
    logLevel: 'warn',
    retryMayHelp: true,
    action:
      'Wait until the other rehearsal has ended, or end it. If it was killed, try again after 30 seconds.',
  },
  folder_of_other_kind: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Name a folder of its own with --data: paper and live never share one.',
  },
  live_refused: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Correct what the message names, then start again. Without `--live` the relay trades on paper.',
  },
  sender_refused: {
    httpStatus: 403,
    logLevel: 'warn',
    retryMayHelp: false,
    action:
      "Only TradingView's addresses and those of --allow-from may post alerts. If the address is yours, add it there; behind a proxy, name the proxy with --reverse-proxy.",
  },
  entry_conflict: {
    httpStatus: 409,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Nothing: another worker changed this signal meanwhile; its ledger entry shows the outcome.',
  },
  earlier_signals_wait: {
    httpStatus: 503,
    logLevel: 'warn',
    retryMayHelp: true,
    action: 'Nothing: signals of a market are executed in the order in which they were stored.',
  },
  position_awaited: {
    httpStatus: 503,
    logLevel: 'info',
    retryMayHelp: true,
    action:
      'Nothing: the signal depends on the position, and is executed when that is known, as when an earlier order is settled.',
  },
  signal_under_way: {
    httpStatus: 409,
    logLevel: 'warn',
    retryMayHelp: true,
    action: 'Wait a minute and check the signal again: it is then settled or unknown.',
  },
  message_invalid: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Find out what else writes to the queue; only the relay may.',
  },
  store_unavailable: {
    httpStatus: 503,
    logLevel: 'error',
    retryMayHelp: true,
    action: 'Check the disk or the database; nothing was sent to the exchange.',
  },
  entry_damaged: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Restore the ledger from a backup, or compare this signal with the exchange by hand.',
  },
  snapshot_incomplete: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: true,
    action: 'Nothing is lost: the next run takes what is missing; the log says why it is, for each account.',
  },
  history_unreadable: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: true,
    action:
      'Nothing of it was stored: the next run reads it again. If this persists, the exchange has changed its list.',
  },
  exchange_request_invalid: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Nothing was sent: correct each field that the message names.',
  },
  exchange_not_sent: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: true,
    action: 'The request provably never reached the exchange: check its address and the network.',
  },
  exchange_rate_limited: {
    httpStatus: 502,
    logLevel: 'warn',
    retryMayHelp: true,
    action:
      'The exchange refused the request before reading it: send fewer, or check the clock of this machine.',
  },
  exchange_rejected: {
    httpStatus: 502,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'The exchange rejected the request: its code and messages say why.',
  },
  exchange_ambiguous: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'The request may or may not have taken effect: look the order up before doing anything else.',
  },
} as const satisfies Record<string, CatalogueRow>;

export type ErrorCode = keyof typeof catalogue;

/** One validation issue of an input: where it is, what is wrong, and how to correct it. */
export interface Issue {
  /** For example `quantity` or `[1].stopLoss`; empty for the whole input. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** An error with a code of the catalogue. Messages never contain secrets or raw bodies. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { issues?: readonly Issue[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.issues = options.issues ?? [];
  }

  get row(): CatalogueRow {
    return catalogue[this.code];
  }
}

/** Whether a signal could not be executed only because it waits for an earlier one: this is no failure. */
export function isAwaited(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'position_awaited';
}
