import type { HttpResponse } from '../../lib/host/plain-webhook.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';

/** Responds to health checks: 200, or 503 when the ledger cannot be read. */
export type HealthHandler = () => Promise<HttpResponse>;

async function canRead(ledger: Pick<Ledger, 'list'>): Promise<boolean> {
  try {
    await ledger.list({ limit: 1 });
    return true;
  } catch {
    return false;
  }
}

/** @param version the running release */
export function createHealth(ledger: Pick<Ledger, 'list'>, version: string): HealthHandler {
  return async () => {
    const isReadable = await canRead(ledger);
    return {
      statusCode: isReadable ? 200 : 503,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
      body: JSON.stringify({
        status: isReadable ? 'ok' : 'failing',
        version,
        store: isReadable ? 'readable' : 'unreadable',
      }),
    };
  };
}
