import { messagePreimage, signPayload } from "../ibft/codec/encoding.ts";
import type { Prepare, SignedMessage } from "../ibft/message.ts";
import type { Rules } from "../ibft/state.ts";
import type { Clock } from "../primitives/clock.ts";
import { keccak256 } from "../primitives/hash.ts";
import type { RemoteSigner } from "./ports.ts";

/** Signs notices of a shared key, and sends them: at once with a local key, else when the remote signer has signed. */
interface NoticeSigner {
  send(payload: Prepare["signed"]["payload"]): void;
  /** Gives up the notices that wait for the remote signer. */
  end(): void;
}

interface NoticeSignerParts {
  readonly rules: Pick<Rules, "self" | "sign">;
  readonly signer?: RemoteSigner | undefined;
  readonly clock: Pick<Clock, "nowMs" | "at">;
}

export function createNoticeSigner(
  { rules: { self, sign }, signer, clock }: NoticeSignerParts,
  send: (message: SignedMessage) => void,
): NoticeSigner {
  const waiting = new Set<AbortController>();

  /**
   * Requests a signature. A notice that cannot be signed soon is dropped: it would be stale, and those that matter are
   * repeated.
   */
  async function signRemotely(payload: Prepare["signed"]["payload"]): Promise<void> {
    if (signer === undefined || waiting.size >= WAITING_LIMIT) return;
    const controller = new AbortController();
    waiting.add(controller);
    const deadline = clock.at(clock.nowMs() + SIGNED_WITHIN_MS, () => controller.abort());
    const preimage = messagePreimage(payload);
    const signature = await signer.sign({ digest: keccak256(preimage), preimage }, controller.signal);
    deadline.cancel();
    waiting.delete(controller);
    if (signature !== undefined && !controller.signal.aborted)
      send({ kind: "prepare", signed: { payload, signature, author: self } });
  }

  return {
    send(payload) {
      if (sign === undefined) void signRemotely(payload);
      else send({ kind: "prepare", signed: signPayload({ self, sign }, payload) });
    },
    end() {
      for (const controller of waiting) controller.abort();
    },
  };
}

/** Most notices that wait for the signer, which takes six requests at once: the votes of a round come first. */
const WAITING_LIMIT = 2;
const SIGNED_WITHIN_MS = 2_000;
