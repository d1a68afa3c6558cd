/** What the package of the construct exports. See docs/construct.md. */

export { parseConfig, type RelayConfig } from '../../lib/host/config.ts';
export { isPaperStage, onPaper } from '../../lib/host/paper-stage.ts';
export type { Bundles } from './function-names.ts';
export { placeFunctions as bundleFunctions } from './prebuilt-bundles.ts';
export { RelayStack, type RelayStackProps } from './relay-stack.ts';
export { TradingRelay, type TradingRelayProps } from './trading-relay.ts';
