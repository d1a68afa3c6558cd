/** Every Lambda function of a relay: `functions/{name}.ts`. */
export const functionNames = [
  'receive-signal',
  'execute-signal',
  'reconcile-signals',
  'snapshot-balances',
  'snapshot-fees',
  'import-interest',
  'send-notices',
] as const;
export type FunctionName = (typeof functionNames)[number];

/** The function that only a paper stage has. */
export const paperFunctionName = 'paper-exchange';

/** The functions of a stage: a paper stage has one more than the others. */
export function functionsOf(isPaper: boolean): readonly (FunctionName | typeof paperFunctionName)[] {
  return isPaper ? [...functionNames, paperFunctionName] : functionNames;
}

/**
 * Function → the folder that holds its bundle, `index.js`, and nothing else. With a paper exchange, the other bundles know
 * no other one.
 */
export type Bundles = Readonly<
  Record<FunctionName, string> & Partial<Record<typeof paperFunctionName, string>>
>;
