/**
 * What the interface document of networks 7171 and 7771 promises users of the applications around the chain. Times that
 * no test can wait for are checked with a simulated clock on contracts with these values, and with a real clock on
 * contracts with short ones.
 */
export const BRIDGE_FEE_BPS = 50n;
export const WRAPPED_NATIVE_RATE_BPS = 1_000n;
export const EXCHANGE_TOKEN_RATE_BPS = 500n;
export const LOCK_SECONDS = 14n * 86_400n;
export const EMERGENCY_TAX_BPS = 2_500n;
export const MINIMUM_LOCKER_SECONDS = 86_400n;

export const DAY = 86_400n;
export const YEAR = 365n * DAY;
export const ALL_BPS = 10_000n;

/** Rounded up. */
export function shareOf(amount: bigint, bps: bigint): bigint {
  return (amount * bps + ALL_BPS - 1n) / ALL_BPS;
}
