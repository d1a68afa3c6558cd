import { parseConfig } from '../../lib/host/config.ts';
import { testConfig } from './world.ts';

/** One account, which trades BTC_USDT on spot. */
export const { settings: spotSettings } = parseConfig({
  ...testConfig,
  accounts: {
    main: {
      mode: 'live',
      maxSlippage: '0.5%',
      allowUnguardedMarket: true,
      markets: { BTC_USDT: { tradesOn: 'spot' } },
    },
  },
});
