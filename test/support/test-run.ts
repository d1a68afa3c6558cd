import { join } from 'node:path';
import { provideConfig } from '../../lib/host/project-config.ts';
import { startSynthesizer } from '../infra/synthesizer.ts';
import { projectRoot } from './project-files.ts';
import { nameSynthesizer } from './run-environment.ts';
import { openRunFolder } from './run-folder.ts';

/** What all test files of a run share. */
export interface TestRun {
  close(): Promise<void>;
}

export async function openTestRun(): Promise<TestRun> {
  // The functions are loaded with `relay.config.ts`, as their bundles are.
  const notice = provideConfig();
  if (notice !== null) process.stderr.write(`${notice}\n`);
  // The processes that tests start load the same files again and again: Node keeps what it made of them.
  process.env['NODE_COMPILE_CACHE'] ??= join(projectRoot, 'node_modules', '.cache', 'node');
  const folder = openRunFolder();
  const synthesizer = await startSynthesizer();
  nameSynthesizer(synthesizer.url);
  return {
    async close() {
      await synthesizer.close();
      const left = folder.close();
      if (left.length === 0) return;
      process.stderr.write(
        `The tests left in the temporary folder, where nothing may stay: ${left.join(', ')}\n`,
      );
      // An error would stop jest before it has written its results.
      process.exitCode = 1;
    },
  };
}
