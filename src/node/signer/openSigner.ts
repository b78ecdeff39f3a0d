import type { SignerSettings } from "../../config/settings.ts";
import type { RemoteSigner } from "../../consensus/ports.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { addressOfPublicKey } from "../../primitives/secp256k1.ts";
import { HttpClient } from "./httpClient.ts";
import { findProblem, type KeySearch, type SignerProblem } from "./keySearch.ts";
import { ANSWER_MS, ROUND_SHARE, SEARCH_MS } from "./limits.ts";
import { createRemoteSigner } from "./remoteSigner.ts";
import { SIGNER_ERRORS, type SignerHealth, SignerWatch } from "./signerHealth.ts";
import { declareSignerMetrics } from "./signerMetrics.ts";

/** A validator whose key another process holds. */
export interface RemoteValidator {
  readonly address: Address;
  readonly signer: RemoteSigner;
  readonly health: () => SignerHealth;
  close(): void;
}

interface OpenSignerParts {
  /** Address of this node's own key. */
  readonly nodeAddress: Address;
  readonly requestTimeoutSeconds: number;
  /** Measures durations. */
  readonly clock: Pick<Clock, "nowMs" | "at">;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/**
 * Asks the signer whether it is there and holds the key. An error when it answers and does not. One that does not answer
 * keeps no node from starting: a warning, and it is asked again until it has answered or signed.
 */
export async function openSigner(
  { url, publicKey, caFile }: SignerSettings,
  parts: OpenSignerParts,
): Promise<Result<RemoteValidator, "unusableSigner">> {
  const { clock, metrics } = parts;
  const logger = parts.logger.child("consensus");
  const answerMs = Math.min(ANSWER_MS, ROUND_SHARE * parts.requestTimeoutSeconds * 1000);
  const address = addressOfPublicKey(publicKey);
  const opened = openClient({ url, ...(caFile !== undefined && { caFile }) });
  if (!opened.ok) return opened;
  const client = opened.value;
  const shown = url.href;
  const search: KeySearch = { client, publicKey, shown };
  const problem = await findProblem(search);
  if (problem?.isLasting === true) {
    client.close();
    return fail("local", "unusableSigner", problem.message);
  }
  const health = new SignerWatch({ url: shown, answerMs, clock, logger });
  const isFailing = (): boolean => health.health.failure !== undefined;
  const signerMetrics = metrics && declareSignerMetrics(metrics, SIGNER_ERRORS, isFailing);
  if (problem === undefined)
    logger.info({ url: shown, address, answerMs }, "the remote signer holds this validator's key");
  const stopSearch = problem === undefined ? undefined : searchOn(search, problem, health, clock);
  const signer = createRemoteSigner({
    ...{ client, publicKey, address, answerMs, clock, health, metrics: signerMetrics },
  });
  if (!equalBytes(address, parts.nodeAddress))
    parts.logger.warn(
      { node: toHex(parts.nodeAddress), validator: toHex(address) },
      "this node's key is not its validator's: Besu sends consensus messages only to peers whose node key is a validator's, so " +
        "no Besu node will send this one any, and it votes through Ibex nodes alone (docs/operating/keys.md)",
    );
  return ok({
    address,
    signer,
    health: () => health.health,
    close() {
      stopSearch?.();
      client.close();
    },
  });
}

/** Asks the signer once, for a node that is stopped: why the node could not vote with it, in a sentence. */
export async function checkSigner({ url, publicKey, caFile }: SignerSettings): Promise<string | undefined> {
  const client = openClient({ url, ...(caFile !== undefined && { caFile }) });
  if (!client.ok) return client.error.message;
  const problem = await findProblem({ client: client.value, publicKey, shown: url.href });
  client.value.close();
  return problem?.message;
}

/** Whether the files that the settings name can be used; asks nobody. */
export function checkSignerFiles({ url, caFile }: SignerSettings): Result<void, "unusableSigner"> {
  const client = openClient({ url, ...(caFile !== undefined && { caFile }) });
  if (!client.ok) return client;
  client.value.close();
  return ok(undefined);
}

function openClient(
  settings: ConstructorParameters<typeof HttpClient>[0],
): Result<HttpClient, "unusableSigner"> {
  try {
    return ok(new HttpClient(settings));
  } catch (error) {
    return fail(
      "local",
      "unusableSigner",
      `The certificates of the remote signer, ${settings.caFile}, cannot be used: ${messageOf(error)}.`,
    );
  }
}

/** Tells the problem, and asks again until there is none, or the signer has signed meanwhile. Returns what ends it. */
function searchOn(
  search: KeySearch,
  first: SignerProblem,
  health: SignerWatch,
  clock: Pick<Clock, "nowMs" | "at">,
): () => void {
  let isOver = false;
  const plan = () => clock.at(clock.nowMs() + SEARCH_MS, () => void look());
  async function look(): Promise<void> {
    const problem = await findProblem(search);
    if (isOver || health.health.failure === undefined) return;
    if (problem === undefined) {
      health.works();
      return;
    }
    health.failed(problem.code, problem.reason);
    timer = plan();
  }
  health.failed(first.code, first.reason, true);
  let timer = plan();
  return () => {
    isOver = true;
    timer.cancel();
  };
}
