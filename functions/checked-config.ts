/**
 * The checked configuration as text, for `readShippedConfig`. `infra/aws/bundle.ts` puts it in place of this
 * module; code that is not bundled has none, and does not start.
 */
export const checkedConfig: string | null = null;
