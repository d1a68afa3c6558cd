import type { Command } from 'commander';
import type { Session } from '../session/session.ts';
import type { Terminal } from '../show/terminal.ts';
import { createApi } from './api.ts';
import { buildPage } from './page-files.ts';
import { type PageContents, type PageServer, startPageServer } from './page-server.ts';

export interface DashboardOptions {
  readonly session: Session;
  /** Makes the program with all commands, which the page's calls run. */
  createProgram(terminal: Terminal): Command;
  /** 0 takes any free one. */
  readonly port: number;
  readonly isReadOnly: boolean;
  /** Further names under which the owner's tunnel reaches the page. */
  readonly hosts?: readonly string[];
}

/**
 * Serves the page over a session.
 *
 * @throws the operating system's error when the port is taken
 */
export async function startDashboard(options: DashboardOptions): Promise<PageServer> {
  const { port, hosts = [] } = options;
  return await startPageServer({ port, hosts, contents: createContents(options) });
}

/** The page's files and answers. The files are built once, when they are first asked for. */
export function createContents({
  session,
  createProgram,
  isReadOnly,
}: Omit<DashboardOptions, 'port'>): PageContents {
  const answer = createApi({ session, createProgram, isReadOnly });
  let building: ReturnType<typeof buildPage> | null = null;
  return {
    answer,
    async asset(path) {
      building ??= buildPage();
      const files = await building.catch((error: unknown) => {
        building = null;
        throw error;
      });
      // Every view has an address of its own, and all have one document.
      return files.get(path) ?? (path.includes('.') ? null : (files.get('/') ?? null));
    },
  };
}
