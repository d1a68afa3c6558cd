import type { RelayConfig } from '../../lib/host/config.ts';

/** What the lines of a new configuration are for, by the name of their field. */
const notes: Readonly<Record<string, string>> = {
  exchange: "'global', 'eu' or a URL. `npm start` without `--live` trades on its paper exchange instead.",
  tickers: "What an alert calls a market, and the exchange's name of it.",
  maxLagSeconds: 'An alert older than this is refused.',
  mode: "'paper', 'dry-run', or 'live': ON AWS, AND WITH `npm start -- --live`, 'live' TRADES REAL MONEY.",
  maxSlippage: 'How far beyond the best opposite price a market order may fill.',
  markets: 'What may be traded, and the largest order: in the base currency, and in the quote currency.',
  notices: 'Who is told of fills, refusals and alarms; see docs/notices.md.',
};

/**
 * The text of a configuration. Everything that it does not name is as relay.config.example.ts says.
 *
 * @param typePath from its folder to lib/host/config.ts
 */
export function writeConfig(config: RelayConfig, typePath: string): string {
  return `import type { RelayConfig } from '${typePath}';

/**
 * What the relay may do, and for which accounts. relay.config.example.ts explains every setting, also those that are not
 * here and have their defaults. Amounts and prices are text, so that they stay exact.
 */
export default ${formatValue(config, 0)} satisfies RelayConfig;
`;
}

function formatValue(value: unknown, depth: number): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map((item) => formatValue(item, depth)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const indent = '  '.repeat(depth + 1);
  const fields = Object.entries(value).map(([name, field]) => {
    const note = notes[name];
    const head = note === undefined ? '' : `${indent}// ${note}\n`;
    return `${head}${indent}${/^[a-zA-Z_]\w*$/.test(name) ? name : quote(name)}: ${formatValue(field, depth + 1)},\n`;
  });
  return `{\n${fields.join('')}${'  '.repeat(depth)}}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}
