import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiling takes half the time of a short command. Node's default cache folder is not used: others can write
// to it.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/relay', import.meta.url)));

// A reader that stops early (`… | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Only modules that are imported after enabling the cache are stored in it.
const { runProgram } = await import('./program.ts');
const { openProcessTerminal } = await import('./show/terminal.ts');
process.exitCode = await runProgram(process.argv, openProcessTerminal());
