import { provideConfig } from '../../lib/host/project-config.ts';

/** Before any test: the functions are loaded with `relay.config.ts`, as their bundles are. */
export default function provide(): void {
  const notice = provideConfig();
  if (notice !== null) process.stderr.write(`${notice}\n`);
}
