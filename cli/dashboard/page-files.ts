import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Asset } from './page-server.ts';

const sources = fileURLToPath(new URL('../../dashboard/', import.meta.url));

const scriptType = 'text/javascript; charset=utf-8';
const styleType = 'text/css; charset=utf-8';

/**
 * Builds the page: `page.js`, the parts that it loads when they are needed, `page.css`, and the document that names them. It
 * takes about 100 ms, and happens when the page is first asked for.
 */
export async function buildPage(): Promise<ReadonlyMap<string, Asset>> {
  const esbuild = await import('esbuild');
  const { outputFiles } = await esbuild.build({
    absWorkingDir: sources,
    entryPoints: { page: 'main.tsx', style: 'page.css' },
    outdir: 'out',
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    chunkNames: 'part-[hash]',
  });
  // Otherwise its process stays.
  await esbuild.stop();
  const built = outputFiles.map(({ path, contents }): [string, Asset] => {
    const name =
      path
        .slice(path.lastIndexOf('/') + 1)
        .split('\\')
        .at(-1) ?? '';
    return [
      `/${name}`,
      { type: name.endsWith('.css') ? styleType : scriptType, body: Buffer.from(contents) },
    ];
  });
  const [shell, icon] = await Promise.all([readFile(`${sources}index.html`), readFile(`${sources}icon.svg`)]);
  return new Map([
    ...built,
    ['/', { type: 'text/html; charset=utf-8', body: shell }],
    ['/icon.svg', { type: 'image/svg+xml', body: icon }],
  ]);
}
