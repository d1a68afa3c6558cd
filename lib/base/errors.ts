export type LogLevel = 'info' | 'warn' | 'error';

interface CatalogueRow {
  /** What an HTTP caller is answered when this error ends a request. */
  readonly httpStatus: number;
  readonly logLevel: LogLevel;
  /** Whether the same request can succeed later without anybody changing it. */
  readonly retryMayHelp: boolean;
  /** After how long the sender is asked to come again. Absent: it is not told, or had better not. */
  readonly retryAfterSeconds?: number;
  /** What the person running the relay should do. */
  readonly action: string;
}

/** Every broken thing the relay can report: one row each, stable codes. */
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
    action: 'Nothing of it was taken in: send headers and body without a pause.',
  },
  body_too_large: {
    httpStatus: 413,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Shorten the alert message; 16 KiB is the most a signal may take.',
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
    action: 'Correct the alert message in TradingView as each issue says.',
  },
  stale: {
    httpStatus: 400,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'The alert came too late to act on; raise maxLag if that delay is acceptable.',
  },
  /** TradingView sends again after a 503, every 5 s and three times at most; after a 429 it does not. */
  rate_limited: {
    httpStatus: 503,
    logLevel: 'warn',
    retryMayHelp: true,
    retryAfterSeconds: 5,
    action:
      'Send the same alert again: it is taken as soon as the minute has room; else slow the alerts down, or raise maxSignalsPerMinute of the account.',
  },
  flooded: {
    httpStatus: 429,
    logLevel: 'warn',
    retryMayHelp: true,
    retryAfterSeconds: 60,
    action:
      'Stop the sender, or raise maxSignalsPerMinute of the account; no order came of the alerts refused.',
  },
  not_stored: {
    httpStatus: 503,
    logLevel: 'error',
    retryMayHelp: true,
    action: 'Send the same bytes again: that completes what is missing and never doubles an order.',
  },
  config_invalid: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Correct relay.config.ts at each path named.',
  },
  config_missing: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Do as it says: without its configuration the relay does not know what it may do.',
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
    action:
      'Do as the message says; replace the tokens and keys if others on this machine may have read them.',
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
  entry_conflict: {
    httpStatus: 409,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'Nothing: another worker moved this signal on; its entry tells the outcome.',
  },
  earlier_signals_wait: {
    httpStatus: 503,
    logLevel: 'warn',
    retryMayHelp: true,
    action: 'Nothing: signals of a market are carried out in the order in which they were stored.',
  },
  signal_under_way: {
    httpStatus: 409,
    logLevel: 'warn',
    retryMayHelp: true,
    action: 'Wait a minute and look at the signal again: it ends by itself, or becomes unknown.',
  },
  message_invalid: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Find out who wrote to the queue; only the relay should.',
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
    action: 'Restore the ledger from a copy, or compare this signal with the exchange by hand.',
  },
  snapshot_incomplete: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: true,
    action:
      'Nothing is lost: what is missing is taken with the next run; the log tells why for each account.',
  },
  history_unreadable: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: true,
    action:
      'Nothing of it was kept: the next run reads anew. If it stays so, the exchange has changed its list.',
  },
  exchange_request_invalid: {
    httpStatus: 500,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'Nothing was sent: correct each field named.',
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
    action: 'The exchange turned the request away unread: send less, or check the clock of this machine.',
  },
  exchange_rejected: {
    httpStatus: 502,
    logLevel: 'warn',
    retryMayHelp: false,
    action: 'The exchange refused the request: its code and texts say why.',
  },
  exchange_ambiguous: {
    httpStatus: 502,
    logLevel: 'error',
    retryMayHelp: false,
    action: 'The request may or may not have taken effect: look the order up before doing anything else.',
  },
} as const satisfies Record<string, CatalogueRow>;

export type ErrorCode = keyof typeof catalogue;

/** One thing wrong with an input: where, what, and how to mend it. */
export interface Issue {
  /** For example `quantity` or `[1].stopLoss`; empty for the whole input. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** Something broken, under one of the catalogue's codes. Messages never hold secrets or raw bodies. */
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
