import { join } from "node:path";
import { baseFeeAfter } from "../chain/nextBlockView.ts";
import type { Settings } from "../config/settings.ts";
import { Faucet } from "../faucet/faucet.ts";
import { GiftRecord } from "../faucet/giftRecord.ts";
import { DAY_MS } from "../faucet/limits.ts";
import { toHex } from "../primitives/hex.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { OpenContext, Stores } from "./openStores.ts";

/** File in the data folder with the gifts that still count. */
const RECORD_NAME = "faucet.jsonl";

/** Opens the faucet; undefined where it is off. Throws DiskError. */
export async function openFaucet(
  { settings, logger, clock, metrics, onStop }: OpenContext,
  { world }: Pick<Stores, "world">,
  { chain, pool }: Pick<ChainAndPool, "chain" | "pool">,
): Promise<Faucet | undefined> {
  if (settings.faucet === undefined || settings.explorer === undefined) return undefined;
  const { addressCooldownMs, hostCooldownMs } = settings.faucet;
  const keepMs = Math.max(DAY_MS, addressCooldownMs, hostCooldownMs);
  const record = await GiftRecord.open(join(settings.dataPath, RECORD_NAME), keepMs, clock.nowMs());
  const answers = metrics?.counter({
    category: "NODE",
    name: "faucet_answers_total",
    help: "Requests to the faucet, by answer: given, or why not",
    labels: ["answer"],
  });
  const log = logger.child("node");
  const faucet = new Faucet(
    { ...settings.faucet, chainId: settings.chainSpec.chainId },
    {
      record,
      nowMs: () => clock.nowMs(),
      balanceOf: (address) => world.head.account(address)?.balance ?? 0n,
      nextNonce: (address) => pool.pool.nextNonce(address),
      gasPriceWei() {
        const baseFeeWei = baseFeeAfter(chain.head.header, settings.chainSpec, clock.nowMs()) ?? 0n;
        return gasPriceOf(pool.pool.blockFloors, baseFeeWei);
      },
      submit: (raw) => pool.admission.submit(raw),
      onAnswer: (answer) => answers?.with(answer).increment(),
      logger: log,
    },
  );
  log.info(termsOf(faucet, settings.faucet), "the faucet is open");
  onStop(() => faucet.close());
  return faucet;
}

/** Twice the base fee, so that a gift still pays when a few full blocks raise it. */
function gasPriceOf(
  {
    minGasPriceWei,
    minPriorityFeeWei,
  }: { readonly minGasPriceWei: bigint; readonly minPriorityFeeWei: bigint },
  baseFeeWei: bigint,
): bigint {
  return 2n * baseFeeWei + (minGasPriceWei > minPriorityFeeWei ? minGasPriceWei : minPriorityFeeWei);
}

function termsOf({ address }: Faucet, terms: NonNullable<Settings["faucet"]>) {
  const { amountWei, dailyLimitWei } = terms;
  return {
    address: toHex(address),
    amountWei: amountWei.toString(),
    dailyLimitWei: dailyLimitWei.toString(),
  };
}
