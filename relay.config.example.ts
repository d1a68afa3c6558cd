import type { RelayConfig } from './lib/host/config.ts';

/**
 * What the relay may do, and for whom. Checked as a whole at start; amounts and prices are text, so they stay exact.
 *
 * `relay.config.example.ts` ships; the first start makes `relay.config.ts` from it. Change that one: git leaves it alone.
 */
export default {
  exchange: {
    // 'global', 'eu', or a URL. `npm start` always trades on the embedded paper exchange instead.
    // 'eu' (whitebit.eu) has no collateral trading: it refuses every kind of order this relay places, stop-limit and
    // limit, with HTTP 453 and code 30. Balances and fees can be read there.
    address: 'global',
    // 'live' is what the service speaks today; 'documented' is its written API.
    dialect: 'live',
  },

  // What alerts call a market → what the exchange calls it. Only what stands here is traded.
  tickers: {
    BTCUSDT: 'BTC_USDT',
    'WHITEBIT:BTCUSDT': 'BTC_USDT',
    'BTCUSDT.P': 'BTC_PERP',
    ETHUSDT: 'ETH_USDT',
    SOLUSDT: 'SOL_USDT',
  },

  // An alert older than this is refused, and not sent if it grew too old while waiting. An alert's own maxLag wins.
  maxLagSeconds: 60,

  // While nobody can tell whether an order exists, the alarm is raised again this often.
  unknownAlarmMinutes: 15,

  // One entry for each webhook URL.
  accounts: {
    main: {
      // 'paper'    places orders on the paper exchange of `npm start`. On AWS, where there is none, it sends nothing:
      //            every signal ends as dry_run, with the requests that would have gone.
      // 'dry-run'  sends nothing, neither here nor on AWS.
      // 'live'     sends orders. ON AWS THEY TRADE REAL MONEY. Set it when the limits below are yours, then deploy.
      mode: 'paper',
      // Where the limit price is set when an alert gives only a stop price: this far beyond it.
      limitOffset: '0.1%',
      // A limit price further beyond its stop price than this, on the side that costs, is denied; null takes any.
      maxLimitDistance: '3%',
      // Markets that may be traded, and the most that one order may be: its amount in the base currency, its notional
      // (amount times price) in the quote currency. Small on purpose: raise them knowingly.
      markets: {
        BTC_USDT: { sides: ['buy', 'sell'], maxAmount: '0.01', maxNotional: '1000' },
        BTC_PERP: { sides: ['buy', 'sell'], maxAmount: '0.01', maxNotional: '1000' },
        ETH_USDT: { sides: ['buy', 'sell'], maxAmount: '0.3', maxNotional: '1000' },
        SOL_USDT: { sides: ['buy', 'sell'], maxAmount: '5', maxNotional: '1000' },
      },
      maxOrdersPerMinute: 60,
      maxSignalsPerMinute: 120,
    },
    rehearsal: {
      mode: 'dry-run',
      limitOffset: '0.1%',
      markets: { BTC_USDT: {}, ETH_USDT: {} },
    },
  },

  // What is kept of every account by the clock: cron(minutes hours day-of-month month day-of-week year), null for never.
  snapshots: {
    timeZone: 'Etc/UTC',
    // What its main balance holds, and its collateral balance in the live dialect, at each of these times.
    balances: 'cron(0 * * * ? *)',
    // What moving each currency costs; only changes are kept.
    fees: 'cron(10 0 * * ? *)',
    // Interest payments; business partners of the exchange alone have them.
    interest: 'cron(20 0 * * ? *)',
  },

  // Only for the relay on AWS.
  aws: {
    // Who may call the webhook beside TradingView: addresses or ranges like '203.0.113.0/24'.
    allowedAddresses: [],
    // Gets the alarms; AWS asks it to confirm once. null: nobody does.
    alarmEmail: null,
    // How long the entry of a settled signal is kept.
    keepLedgerDays: 400,
    logRetentionDays: 90,
  },
} satisfies RelayConfig;
