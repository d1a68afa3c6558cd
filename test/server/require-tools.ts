import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Program → Debian's package that has it. */
const tools = {
  caddy: 'caddy',
  'systemd-analyze': 'systemd',
  'systemd-notify': 'systemd',
  buildah: 'buildah',
  python3: 'python3',
};

/** @throws Error when a program is missing: a test that is skipped proves nothing */
export default function requireTools(): void {
  const missing = Object.entries(tools).filter(([name]) => !isThere(name));
  if (missing.length === 0) return;
  const packages = new Set(missing.map(([, name]) => name));
  throw new Error(
    `${missing.map(([name]) => name).join(', ')} missing: apt-get install ${[...packages].join(' ')}`,
  );
}

function isThere(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
