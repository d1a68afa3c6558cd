import { RelayError } from '../../lib/base/errors.ts';
import { provideConfig } from '../../lib/host/project-config.ts';

/** Creates relay.config.ts for tools that read all source files, for example the type checker. */
try {
  const notice = provideConfig();
  if (notice !== null) process.stderr.write(`${notice}\n`);
} catch (error) {
  if (!(error instanceof RelayError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
