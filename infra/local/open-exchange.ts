import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { startPaperExchange } from '../../lib/paper/server/server.ts';
import type { StartOptions } from './start-options.ts';

/** The exchange of a run. */
export interface RunExchange {
  readonly address: string;
  readonly dialect: Dialect;
  readonly isPaper: boolean;
  /** Whether the paper exchange could not read what an older release had stored. */
  readonly wasEmptied: boolean;
  close(): Promise<void>;
}

/**
 * Starts the paper exchange of a run on paper. Of a live run there is nothing to start.
 *
 * @param liveAddress null on paper
 */
export async function openExchange(
  { paperPort, frozen }: Pick<StartOptions, 'paperPort' | 'frozen'>,
  folder: DataFolder,
  dialect: Dialect,
  liveAddress: string | null,
): Promise<RunExchange> {
  if (liveAddress !== null)
    return { address: liveAddress, dialect, isPaper: false, wasEmptied: false, close: async () => undefined };
  const paper = await startPaperExchange({
    port: paperPort,
    dialect,
    walk: !frozen,
    seed: 1,
    journalPath: folder.paperPath,
  });
  return {
    address: paper.url,
    dialect,
    isPaper: true,
    wasEmptied: paper.wasEmptied,
    close: () => paper.close(),
  };
}
