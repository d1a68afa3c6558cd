import type { RelayConfig } from './lib/host/config.ts';

/**
 * What the relay may do, and for which accounts. The relay checks the whole file when it starts.
 * Amounts and prices are text, so that they stay exact.
 *
 * The first start copies `relay.config.example.ts` to `relay.config.ts`. Edit the copy: git ignores it.
 */
export default {
  exchange: {
    // 'global', 'eu', or a URL. `npm start` trades on the embedded paper exchange instead, unless you add `--live`.
    // 'eu' (whitebit.eu) restricts every account as `region: 'eu'` does; see below.
    address: 'global',
    // 'live' is the API that the service speaks today; 'documented' is the API as its documentation says.
    dialect: 'live',
  },

  // Ticker in the alert → market at the exchange. The relay trades only the tickers listed here.
  tickers: {
    BTCUSDT: 'BTC_USDT',
    'WHITEBIT:BTCUSDT': 'BTC_USDT',
    'BTCUSDT.P': 'BTC_PERP',
    ETHUSDT: 'ETH_USDT',
    SOLUSDT: 'SOL_USDT',
    // The exchange's free demo pair. It trades on spot alone, with play money.
    DBTCDUSDT: 'DBTC_DUSDT',
  },

  // An alert older than this is refused. One that becomes older than this while it waits in the queue is
  // denied. A maxLag in the alert overrides this setting.
  maxLagSeconds: 60,

  // While it is unknown whether an order exists, the alarm is raised again at this interval.
  unknownAlarmMinutes: 15,

  // One entry for each webhook URL.
  accounts: {
    main: {
      // 'paper'    places orders on the paper exchange of `npm start`. AWS has no paper exchange: there it
      //            sends nothing, and every signal ends as dry_run, with the requests that 'live' would send.
      // 'dry-run'  sends nothing, neither here nor on AWS.
      // 'live'     sends orders. ON AWS, AND WITH `npm start -- --live`, THEY TRADE REAL MONEY. Set your own limits first.
      // The mode decides what becomes of alerts. Your own commands are sent in every mode: `relay cancel`,
      // `relay resolve --cancel`, and `relay rehearse`, which places orders and whose last step trades.
      mode: 'paper',
      // 'eu' for an account of the exchange's EU customers, whatever the address. The exchange has no margin and no
      // futures for it, and takes only market and stop-market orders on spot, which fill at any price. So every
      // market of such an account needs tradesOn: 'spot', and the account maxSlippage: null and
      // allowUnguardedMarket: true. Limit and stop-limit orders are denied. null: no region restricts the account.
      region: null,
      // For an alert that gives only a stop price, the relay sets the limit price this far beyond it: above
      // it for a buy, below it for a sell.
      limitOffset: '0.1%',
      // A limit price further beyond its stop price than this is denied: above it for a buy, below it for a
      // sell. null: any distance is allowed.
      maxLimitDistance: '3%',
      // How far beyond the best opposite price a market order may fill: above the best ask for a buy, below the
      // best bid for a sell. What does not fill within it is cancelled. An alert may ask for less, not for more.
      // null: a market order needs a maxSlippage in its alert.
      maxSlippage: '0.5%',
      // true: orders that fill at any price may be sent, which are market orders without maxSlippage and
      // stop-market orders. false: they are denied.
      allowUnguardedMarket: false,
      // Markets that may be traded. `tradesOn` names the account of the exchange on which each one trades:
      //   'spot'     exchanges what the trade account holds, without leverage.
      //   'margin'   a spot pair with borrowed money, on the collateral account.
      //   'futures'  a perpetual market (…_PERP), on the collateral account.
      // Then the largest order in each: its amount in the base currency, its notional (amount times price) in
      // the quote currency. They are small on purpose: check each one before you raise it.
      // `maxPosition` (base currency; null: any) bounds the position that an order can lead to, on either side, with
      // the open entry orders of the market included: BTC_PERP: { …, maxPosition: '0.02' }.
      markets: {
        BTC_USDT: { tradesOn: 'margin', sides: ['buy', 'sell'], maxAmount: '0.01', maxNotional: '1000' },
        BTC_PERP: { tradesOn: 'futures', sides: ['buy', 'sell'], maxAmount: '0.01', maxNotional: '1000' },
        ETH_USDT: { tradesOn: 'margin', sides: ['buy', 'sell'], maxAmount: '0.3', maxNotional: '1000' },
        SOL_USDT: { tradesOn: 'margin', sides: ['buy', 'sell'], maxAmount: '5', maxNotional: '1000' },
        DBTC_DUSDT: { tradesOn: 'spot', sides: ['buy', 'sell'], maxAmount: '0.01', maxNotional: '1000' },
      },
      // What an alert is that places an order and names neither its orderType nor a price: 'market', within maxSlippage.
      // null: such an alert is refused.
      defaultOrderType: 'market',
      // Whether an alert's prev_market_position must be the real position. false: another one is told, and the order is
      // sent all the same. true: it decides as requirePosition in the alert does, with onMismatch below.
      requirePosition: false,
      // Orders that only reduce a position, and those that protect one, do not count.
      maxOrdersPerMinute: 60,
      // Signals that may open or enlarge a position; as many more may only close, reduce, cancel or protect.
      maxSignalsPerMinute: 120,
      // What happens besides the denial when an alert's requirePosition is not the real position. 'deny': nothing.
      // 'flatten': the position is closed. 'resync': it is closed if the alert presumes flat, and its order is placed.
      onMismatch: 'deny',
      // true: while the position of one strategy is open in a market, alerts of another strategy are denied there.
      // null: only in markets where targets are used. false: never. Two strategies need two sub-accounts.
      oneStrategyPerMarket: null,
      // 'keep': a stop-loss or take-profit is fitted to what is left of its entry, and a missing one is placed, by orders
      // that only reduce. 'alarm': nothing is changed, and a missing stop-loss raises an alarm.
      protection: 'keep',
      // How the relay places a stop-loss itself. 'limit': with a limit price 1 % beyond its trigger price at most.
      // 'market': it fills at any price, and needs allowUnguardedMarket. A stop-loss that the exchange has made with a limit
      // price is replaced then.
      stopKind: 'limit',
      // Limits of growing risk; null: off. They and `maxPosition` hold for orders that enlarge what is at stake. Orders
      // that only reduce a position (`reduceOnly`, a per cent of the position, or smaller than the position that they
      // are against) and cancellations always pass. `npx relay limits` shows how much of each is used.
      // They need the 'live' dialect. Each order then costs a few requests for positions and open orders, and is denied
      // when they cannot be counted.
      //
      // The value of all positions and open orders, the new order included, in USDT. What is quoted in another currency
      // counts at the last price of its pair with USDT; without such a pair, nothing is opened. What has filled on spot is no
      // position and does not count: there only the size of each order and the balance bound what is bought.
      maxOpenNotional: null,
      // The loss of a day in USDT: realised profit of all deals of the account since midnight, by hand, too, at average
      // cost and after fees, and the floating profit of all positions. At this loss the account is paused with an
      // alarm, until `npx relay resume`. Checked before each order, and every minute while a position is open.
      maxDailyLoss: null,
      // Minutes in which nothing is opened after a deal that closed at a loss, by an order of the relay or by hand.
      coolDownAfterLoss: null,
      // When orders may be sent: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', until: '06:00' }]. Without
      // `days`: every day. A window that ends before it begins ends on the next day.
      tradingWindows: null,
      // In which the day and the windows are counted.
      timeZone: 'Etc/UTC',
    },
    rehearsal: {
      mode: 'dry-run',
      limitOffset: '0.1%',
      maxSlippage: '0.5%',
      markets: { BTC_USDT: { tradesOn: 'margin' }, ETH_USDT: { tradesOn: 'margin' } },
    },
  },

  // What the relay records of every account on a schedule; null: never.
  // cron(minutes hours day-of-month month day-of-week year)
  snapshots: {
    timeZone: 'Etc/UTC',
    // The main balance, and in the live dialect also the collateral balance.
    balances: 'cron(0 * * * ? *)',
    // The fees for deposits and withdrawals of each currency; only changes are stored.
    fees: 'cron(10 0 * * ? *)',
    // Interest payments; only business partners of the exchange receive them.
    interest: 'cron(20 0 * * ? *)',
  },

  // Who is told of fills, refusals and alarms; see docs/notices.md. `npx relay notify set CHANNEL` stores how a channel is
  // reached, which is secret, and `npx relay notify test` tries it.
  notices: {
    // 'telegram', 'slack', 'discord', 'ntfy', 'webhook'; on AWS also 'email', to alarmEmail below. []: nobody is told.
    channels: [],
    // 'on', 'silent' (without a sound) or 'off' for each kind of news. An account may set others: notices: { placed: 'off' }.
    tell: { placed: 'silent', heartbeat: 'silent' },
    // When the daily heartbeat is sent: signals, fills, unknown outcomes, and what is held.
    heartbeatAt: '08:00',
    timeZone: 'Etc/UTC',
  },

  // Only for the relay on AWS.
  aws: {
    // Who may call the webhook besides TradingView: addresses or ranges like '203.0.113.0/24'.
    allowedAddresses: [],
    // AWS sends the alarms to this address, after the address has confirmed once. null: no e-mail is sent.
    alarmEmail: null,
    // Whether the first alert after a quiet day is as fast as the next: two functions are called every three minutes.
    keepWarm: true,
    // Whether the exchange sees one address that stays, to which its keys can be bound: about 37 dollars a month.
    fixedAddress: false,
    // How long the ledger entry of a settled signal is kept. Fills are kept for 400 days at least.
    keepLedgerDays: 400,
    logRetentionDays: 90,
  },
} satisfies RelayConfig;
