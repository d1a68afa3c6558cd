/** The setting of `npm run proof`: `runs.ts` tries every case. */
(globalThis as { isProof?: boolean }).isProof = true;
