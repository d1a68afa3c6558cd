import { parseDecimal } from '../../lib/base/decimal.ts';
import { startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { descriptions } from '../support/operation-descriptions.ts';
import { createPost, get, type Received } from './paper-client.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What the paper exchange was asked, and what it answered. */
interface Exchanged {
  readonly sent: Fields;
  readonly answer: unknown;
}

export interface DescribedPaper {
  /** The name of an endpoint → every request to it that the paper exchange took. */
  readonly exchanged: ReadonlyMap<string, readonly Exchanged[]>;
  send(name: string, fields: Fields): Promise<Received>;
  close(): Promise<void>;
}

type Ask = (name: string, fields?: Fields) => Promise<Fields>;

/** A paper exchange on which every described operation was called. */
export async function openDescribedPaper(): Promise<DescribedPaper> {
  const clock = createManualClock(1_790_000_000_000);
  const paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  const post = createPost(paper.url);
  const exchanged = new Map<string, Exchanged[]>();
  const send = (name: string, fields: Fields) => {
    const [method = '', path = ''] = descriptions.operations[name]?.operation.split(' ') ?? [];
    return method === 'GET' ? get(paper.url, addressOf(path, fields)) : post(path, fields);
  };
  const ask: Ask = async (name, sent = {}) => {
    const { status, body: answer } = await send(name, sent);
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    exchanged.set(name, [...(exchanged.get(name) ?? []), { sent, answer }]);
    return answer as Fields;
  };
  for (const market of ['BTC_USDT', 'BTC_PERP']) paper.control.setPrice(market, parseDecimal('60000'));
  await readTheMarkets(ask);
  await tradeOnSpot(ask);
  await tradeWithExits(ask, () => paper.control.setExits({ showsAttached: true }));
  await tradeInPairs(ask);
  await readTheAccount(ask);
  return { exchanged, send, close: () => paper.close() };
}

function addressOf(path: string, fields: Fields): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name] ?? ''));
  const query = Object.entries(fields).filter(([name]) => !path.includes(`{${name}}`));
  return query.length === 0 ? filled : `${filled}?${query.map((pair) => pair.join('=')).join('&')}`;
}

const btc = { market: 'BTC_USDT' };
const buy = { ...btc, side: 'buy', amount: '0.01' };
const sell = { ...btc, side: 'sell', amount: '0.01' };
const exits = { stopLoss: '40000', takeProfit: '90000' };

async function readTheMarkets(ask: Ask): Promise<void> {
  for (const name of ['ping', 'server-time', 'markets', 'assets', 'public-fee', 'ticker', 'futures'])
    await ask(name);
  for (const name of ['collateral-markets', 'platform-status', 'market-fee', 'fees', 'hedge-mode'])
    await ask(name);
  for (const name of ['v1-ticker', 'order-book', 'trades', 'candles']) await ask(name, btc);
  await ask('main-balance');
  await ask('interest-payments');
}

async function tradeOnSpot(ask: Ask): Promise<void> {
  await ask('spot-market', { ...buy, amount: '100' });
  await ask('spot-stock-market', sell);
  await ask('spot-stop-market', { ...sell, activation_price: '50000' });
  const stop = await ask('spot-stop-limit', { ...sell, activation_price: '50000', price: '49000' });
  await ask('cancel-order', { ...btc, orderId: stop['orderId'] });
  const { orderId } = await ask('spot-limit', { ...buy, price: '30000', clientOrderId: 'a', postOnly: true });
  const changed = await ask('modify-order', { ...btc, orderId, price: '31000' });
  await ask('open-order', btc);
  await ask('cancel-order', { ...btc, orderId: changed['orderId'] });
}

async function tradeWithExits(ask: Ask, showAttached: () => unknown): Promise<void> {
  const waiting = await ask('limit', { ...buy, ...exits, price: '50000' });
  await ask('stop-limit', { ...buy, ...exits, price: '70000', activation_price: '69000' });
  await ask('stop-market', { ...buy, ...exits, activation_price: '69000' });
  await ask('market', { ...buy, ...exits });
  await ask('open-positions');
  showAttached();
  await ask('open-positions');
  await ask('open-order', btc);
  const { records } = await ask('conditional-orders', btc);
  const made = (records as readonly Fields[]).find(({ type }) => type === 'oco');
  await ask('cancel-conditional', { ...btc, id: made?.['id'] });
  await ask('cancel-oto', { ...btc, otoId: (waiting['oto'] as Fields)['otoId'] });
}

async function tradeInPairs(ask: Ask): Promise<void> {
  const pair = { ...sell, price: '66000', activation_price: '55000', stop_limit_price: '54000' };
  const { id } = await ask('create-oco', { ...pair, reduceOnly: true });
  await ask('oco-orders', btc);
  await ask('cancel-oco', { ...btc, orderId: id });
}

async function readTheAccount(ask: Ask): Promise<void> {
  const [position] = (await ask('open-positions', btc)) as unknown as readonly Fields[];
  for (const name of ['trade-balance', 'collateral-amounts', 'collateral-balance', 'collateral-summary'])
    await ask(name);
  await ask('close-position', { ...btc, positionId: position?.['positionId'] });
  for (const name of ['positions-history', 'closed-pnl', 'funding-history']) await ask(name);
  await ask('cancel-all', btc);
  await ask('ended-order');
  await ask('executed-history');
  const [deal] = (await ask('executed-history', btc)) as unknown as readonly Fields[];
  await ask('order-deals', { orderId: deal?.['orderId'] });
  await ask('leverage', { leverage: 10 });
  await ask('set-hedge-mode', { hedgeMode: true });
}
