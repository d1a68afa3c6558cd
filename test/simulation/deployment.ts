import type { Alert } from './alerts.ts';
import type { Process } from './process.ts';

/** The response to a sender; `broken` is a connection that ended without one. */
export type Reply = { readonly httpStatus: number; readonly body: string } | 'broken';

/** A running relay, including its crashes and restarts. */
export interface Deployment {
  start(): void;
  /** Handles one HTTP request; the promise always resolves. */
  receive(alert: Alert, token: string): Promise<Reply>;
  /** The operator puts the dead letters back, if there are any. */
  redrive(): Promise<void>;
  /** Sets all clocks this far ahead of the true time, or behind it if negative. At first they are right. */
  setClocks(skewMs: number): void;
  /** The secrets that its webhook certainly knows now, even if it cannot read its secret store. */
  secretsAtWebhook(account: string): readonly string[];
  /** Ends idle processes, so that the next ones start with empty caches. */
  forget(): void;
  /** A process that is handling something, if there is one. */
  busyProcess(): Process | null;
}
