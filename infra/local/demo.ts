import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { Command } from 'commander';
import { systemClock } from '../../lib/base/clock.ts';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets, createFileSecrets } from '../../lib/host/file-secrets.ts';
import { createLineLog } from '../../lib/host/line-log.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import { startPaperExchange } from '../../lib/paper/server/server.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { firstAlert } from '../../lib/signals/first-alert.ts';
import config from '../../relay.config.example.ts';
import { startLocalRelay } from './local-relay.ts';
import { createLogOutput } from './log-output.ts';

/**
 * Shows the whole relay at work, on free ports and in a temporary folder. It fails if any step has another
 * result.
 */
new Command('npm run demo')
  .description(
    'Shows in a second what the relay does, on free ports and in a temporary folder; changes nothing else.',
  )
  .parse();

const dialect = 'live';
const { settings } = parseConfig(config);
const folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-demo-')));
completeFileSecrets(folder.secretsPath, Object.keys(settings.accounts), paperKeysOf);
const secrets = createFileSecrets(folder.secretsPath);
const keys = await secrets.exchangeKeys('main');
const [token] = await secrets.webhookTokens('main');

const logOutput = createLogOutput(folder.logPath, null);
const paper = await startPaperExchange({ port: 0, dialect, walk: false });
paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
const relay = await startLocalRelay({
  port: 0,
  folder,
  settings,
  exchange: { address: paper.url, dialect, isPaper: true },
  exchangeTimeoutMs: 5_000,
  clock: systemClock,
  log: createLineLog('relay', logOutput),
});
const file = openSqlite(folder.databasePath);
const ledger = createSqliteLedger(file);
const client = createExchangeClient({ address: paper.url, dialect, credentials: keys });

// An id of its own instead of a time, so that the same bytes can come again.
const { time: _time, ...withoutTime } = firstAlert;
const alert = { id: 'entry-1', ...withoutTime };

try {
  await runDemo();
} finally {
  client.close();
  await relay.close();
  await paper.close();
  file.close();
  logOutput.end();
  rmSync(folder.path, { recursive: true });
}

async function runDemo(): Promise<void> {
  say(styleText('bold', 'One alert, one order, one known outcome'));
  say(dim(`relay ${relay.url} · paper exchange ${paper.url} · BTC_USDT trades at 50000`));

  chapter(1, 'TradingView posts a market buy with a stop-loss of 2% and a take-profit of 4%');
  await post(alert, 202);
  const placed = await settled('entry-1');
  expectThat(placed.status === 'placed', `the alert ended ${placed.status}`);
  sayHistory(placed);
  const [entry] = orders();
  if (entry?.status !== 'filled') throw new Error(`The demo does not hold: the order is ${entry?.status}.`);
  say(
    `   bought ${entry.amount} BTC at ${averagePrice(entry)}; the bound was ${entry.price} (maxSlippage 0.5%)`,
  );
  await sayStopLossAndTakeProfit();

  chapter(2, 'The same alert comes again, as after a 503');
  await post(alert, 200);
  const { acceptedCreates } = paper.control.state();
  expectThat(acceptedCreates === 1, `the exchange accepted ${acceptedCreates} orders`);
  say(`   the exchange has accepted ${styleText('bold', '1 order')}, client order id ${entry.clientOrderId}`);

  chapter(3, 'An alert with a misspelt field would leave the position without its stop');
  const { stopLoss, ...withoutStop } = alert;
  await post({ ...withoutStop, id: 'entry-2', stoplos: stopLoss }, 400);
  expectThat(paper.control.state().acceptedCreates === 1, 'the refused alert placed an order');

  chapter(4, 'The price rises to the take-profit: 50000 → 52000');
  paper.control.setPrice('BTC_USDT', parseDecimal('52000'));
  const [, stop, profit] = orders();
  expectThat(profit?.status === 'filled', `the take-profit is ${profit?.status}`);
  expectThat(stop?.status === 'cancelled', `the stop-loss is ${stop?.status}`);
  say(
    `   take-profit ${profit?.orderId} is ${green('FILLED')}: sold ${profit?.amount} BTC at ${profit?.price}`,
  );
  say(`   stop-loss ${stop?.orderId} is cancelled with it`);

  say(`\n${styleText('bold', 'What the ledger shows')}`);
  const { entries } = await ledger.list({ limit: 10 });
  expectThat(entries.length === 2, `the ledger holds ${entries.length} entries`);
  for (const { status, signalId, steps } of entries.toReversed())
    say(`   ${paint(status)} ${signalId.slice(0, 31).padEnd(31)}  ${steps.at(-1)?.note}`);
  say(dim('\nNext: npm start, then npx relay --help\n'));
}

function orders(): readonly OrderState[] {
  return paper.control.state().orders;
}

function averagePrice({ filled, filledNotional }: Pick<OrderState, 'filled' | 'filledNotional'>): string {
  return formatDecimal(parseDecimal(filledNotional).div(parseDecimal(filled)));
}

async function post(body: object, expectedStatus: number): Promise<void> {
  const response = await fetch(`${relay.url}/signals/main/${token}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const result = (await response.json()) as {
    signalId?: string;
    status?: string;
    duplicate?: boolean;
    error?: { issues: readonly { path: string; message: string; hint: string }[] };
  };
  expectThat(response.status === expectedStatus, `the relay responded ${response.status}`);
  const meaning = result.duplicate ? `known already: ${result.status}` : (result.status ?? 'refused');
  const signal = result.signalId === undefined ? '' : `  ${dim(result.signalId)}`;
  say(`   → ${response.status} ${response.ok ? green(meaning) : red(meaning)}${signal}`);
  for (const { path, message, hint } of result.error?.issues ?? [])
    say(`     ${path}: ${message}\n     ${dim(hint)}`);
}

async function settled(signalId: string): Promise<Entry> {
  for (;;) {
    const entry = await ledger.read({ account: 'main', signalId });
    if (entry !== null && entry.status !== 'accepted' && entry.status !== 'sending') return entry;
    await systemClock.sleep(5);
  }
}

function sayHistory({ steps, createdAtMs }: Entry): void {
  for (const { status, atMs, note } of steps)
    say(`     ${dim(`+${atMs - createdAtMs} ms`.padStart(7))}  ${paint(status)} ${note}`);
}

async function sayStopLossAndTakeProfit(): Promise<void> {
  const { records } = await client.call(conditionalOrders, {});
  const [oco] = records;
  if (oco?.kind !== 'oco') throw new Error('there is no OCO after the fill');
  const { stopLoss, takeProfit } = oco;
  say(
    `   stop-loss and take-profit are one OCO: ${stopLoss.side} stop at ${formatDecimal(stopLoss.activationPrice ?? stopLoss.price)},`,
  );
  say(
    `   ${takeProfit.side} limit at ${formatDecimal(takeProfit.price)}; when one executes the other is cancelled`,
  );
}

function chapter(number: number, title: string): void {
  say(`\n${styleText(['bold', 'cyan'], String(number))}  ${styleText('bold', title)}`);
}

function paint(status: string): string {
  const padded = status.padEnd(9);
  return status === 'placed' ? green(padded) : status === 'invalid' ? red(padded) : padded;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function dim(text: string): string {
  return styleText('dim', text);
}

function green(text: string): string {
  return styleText('green', text);
}

function red(text: string): string {
  return styleText('red', text);
}

/** Stops the demo if the relay did not do what the text says. */
function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(`The demo does not hold: ${otherwise}.`);
}
