import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

export const projectRoot = join(import.meta.dirname, '..', '..');

/** Made by tools, or by running the relay; not the project's own. In a further work tree, `.git` is a file. */
const foreignNames = ['node_modules', '.git', 'coverage', '.relay', 'cdk.out'];

/** Paths of the project's own files below a folder, from the root, with `/` between the parts. */
export function listProjectFiles(folder = ''): readonly string[] {
  const path = join(projectRoot, folder);
  return readdirSync(path, { withFileTypes: true }).flatMap((item) => {
    const child = relative(projectRoot, join(path, item.name)).split(sep).join('/');
    if (foreignNames.includes(item.name)) return [];
    if (item.isDirectory()) return listProjectFiles(child);
    return item.isFile() && !item.name.endsWith('.log') ? [child] : [];
  });
}

export function readProjectFile(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}
