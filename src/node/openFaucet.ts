import { join } from "node:path";
import type { Faucet } from "../faucet/faucet.ts";
import type { OpenNode } from "./openNode.ts";

/** File in the data folder with the gifts of the faucet that still count. */
const GIFTS_FILE = "faucet.jsonl";

/** Opens the faucet, for which the explorer asks; undefined where one of the two is off. Throws DiskError. */
export async function openFaucet(node: OpenNode): Promise<Faucet | undefined> {
  const { settings, logger, clock, metrics, openParts, view } = node;
  const { faucet: terms, explorer, chainSpec, dataPath } = settings;
  const { pool, admission } = node.txPool;
  if (terms === undefined || explorer === undefined) return undefined;
  // Not loaded where it is off.
  const { Faucet } = await import("../faucet/faucet.ts");
  return openParts.add(
    await Faucet.open({ ...terms, chainId: chainSpec.chainId }, join(dataPath, GIFTS_FILE), {
      nowMs: clock.nowMs,
      view,
      pool,
      submit: (raw) => admission.submit(raw),
      metrics,
      logger: logger.child("node"),
    }),
  );
}
