import type { RemoteSigner, SignatureRequest } from "../../consensus/ports.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, parseHex, toHex } from "../../primitives/hex.ts";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { recoverAddress, type Signature, withLowS } from "../../primitives/secp256k1.ts";
import type { HttpClient } from "./httpClient.ts";
import { FIRST_PAUSE_MS, LAST_PAUSE_MS, SIGNATURE_ANSWER_LIMIT } from "./limits.ts";
import type { SignerErrorCode, SignerWatch } from "./signerHealth.ts";
import type { SignerMetrics } from "./signerMetrics.ts";

interface RemoteSignerParts {
  readonly client: HttpClient;
  /** 64 bytes. */
  readonly publicKey: Uint8Array;
  /** Address of the public key. */
  readonly address: Address;
  /** Longest wait for one answer. */
  readonly answerMs: number;
  readonly clock: Pick<Clock, "nowMs" | "at">;
  readonly health: SignerWatch;
  readonly metrics?: SignerMetrics | undefined;
}

/**
 * Signs with a key that another process holds, over Web3Signer's API of secp256k1 keys (ibft2.md#remote-signer). That API
 * hashes what it signs with keccak-256 itself, so the preimage is sent. Every signature is verified before it is used. A
 * request that fails is sent again after a pause that doubles, until the round is over; signing the same bytes again is
 * harmless.
 */
export function createRemoteSigner(parts: RemoteSignerParts): RemoteSigner {
  const { clock, health, metrics } = parts;
  return {
    async sign(request, signal) {
      let pauseMs = FIRST_PAUSE_MS;
      while (!signal.aborted) {
        const startedAtMs = clock.nowMs();
        const signed = await requestSignature(parts, request, signal);
        const tookMs = clock.nowMs() - startedAtMs;
        if (signal.aborted) {
          metrics?.failed("late");
          health.abandoned(tookMs);
          return undefined;
        }
        metrics?.took(tookMs / 1000);
        if (signed.ok) {
          health.works(tookMs);
          return signed.value;
        }
        metrics?.failed(signed.error.code);
        health.failed(signed.error.code, signed.error.message);
        await pause(clock, pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
      }
      return undefined;
    },
  };
}

async function requestSignature(
  { client, publicKey, address, answerMs }: RemoteSignerParts,
  { digest, preimage }: SignatureRequest,
  signal: AbortSignal,
): Promise<Result<Signature, SignerErrorCode>> {
  const answer = await client.request({
    method: "POST",
    path: `/api/v1/eth1/sign/${toHex(publicKey)}`,
    body: `{"data":"${toHex(preimage)}"}`,
    timeoutMs: answerMs,
    maxBytes: SIGNATURE_ANSWER_LIMIT,
    signal,
  });
  if (!answer.ok) return answer;
  const { status, text } = answer.value;
  if (status === 404) return fail("local", "unknownKey", "it does not hold the key (status 404)");
  if (status !== 200) return fail("local", "refused", `it answers with status ${status}`);
  const signature = parseSignature(text);
  if (signature === undefined) return fail("local", "malformed", "its answer is not a signature");
  const signer = recoverAddress(digest, signature);
  if (signer !== undefined && equalBytes(signer, address)) return ok(signature);
  return fail("local", "wrongSignature", `its signature is not that of ${toHex(address)}`);
}

/** `0x`, r, s and v in 65 bytes. Web3Signer's v is 27 or 28; others say 0 or 1. A high s is replaced by its low twin. */
function parseSignature(text: string): Signature | undefined {
  const bytes = parseHex(text.trim());
  const v = bytes?.[64];
  if (bytes?.length !== 65 || v === undefined) return undefined;
  const yParity = v >= 27 ? v - 27 : v;
  if (yParity !== 0 && yParity !== 1) return undefined;
  const r = bytesToBigint(bytes.subarray(0, 32));
  const s = bytesToBigint(bytes.subarray(32, 64));
  return withLowS({ r, s, yParity });
}

/** Resolves after `ms`, or when the signal aborts. */
function pause({ nowMs, at }: Pick<Clock, "nowMs" | "at">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = at(nowMs() + ms, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
