import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Half of the time of a short command is compiling. The common cache folder is one that others can write to.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/relay', import.meta.url)));

// A reader that has seen enough (`… | head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Only what is imported from here on is kept in the cache.
const { runProgram } = await import('./program.ts');
const { openProcessTerminal } = await import('./terminal.ts');
process.exitCode = await runProgram(process.argv, openProcessTerminal());
