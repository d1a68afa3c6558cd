import { RelayError } from '../../lib/base/errors.ts';
import { provideConfig } from '../../lib/host/project-config.ts';

/** For tools that read the sources as a whole, the owner's configuration among them. */
try {
  const notice = provideConfig();
  if (notice !== null) process.stderr.write(`${notice}\n`);
} catch (error) {
  if (!(error instanceof RelayError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
