import type { FunctionName, paperFunctionName } from '../../infra/aws/function-names.ts';

/** The most bytes that the bundle of each function may have, with the configuration of `relay.config.example.ts`. */
export const bundleBudgets: Readonly<Record<FunctionName | typeof paperFunctionName, number>> = {
  'receive-signal': 253_000,
  'execute-signal': 458_000,
  'reconcile-signals': 384_000,
  'snapshot-balances': 146_000,
  'snapshot-fees': 143_000,
  'import-interest': 148_000,
  'send-notices': 140_000,
  'paper-exchange': 500_000,
};
