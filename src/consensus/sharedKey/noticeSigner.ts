import { messagePreimage, signPayload } from "../../ibft/codec/encoding.ts";
import type { Prepare, SignedMessage } from "../../ibft/message.ts";
import type { Rules } from "../../ibft/state.ts";
import type { Clock } from "../../primitives/clock.ts";
import { keccak256 } from "../../primitives/hash.ts";
import type { RemoteSigner } from "../ports.ts";

interface NoticeSignerParts {
  readonly rules: Pick<Rules, "self" | "sign">;
  readonly signer?: RemoteSigner | undefined;
  readonly clock: Pick<Clock, "nowMs" | "at">;
}

type Payload = Prepare["signed"]["payload"];

/** Signs notices of a shared key, and sends them: at once with a local key, else when the remote signer has signed. */
export class NoticeSigner {
  private readonly parts: NoticeSignerParts;
  private readonly post: (message: SignedMessage) => void;
  private readonly waiting = new Set<AbortController>();

  /** `post` sends a signed notice. */
  constructor(parts: NoticeSignerParts, post: (message: SignedMessage) => void) {
    this.parts = parts;
    this.post = post;
  }

  send(payload: Payload): void {
    const { self, sign } = this.parts.rules;
    if (sign === undefined) void this.signRemotely(payload);
    else this.post({ kind: "prepare", signed: signPayload({ self, sign }, payload) });
  }

  /** Gives up the notices that wait for the remote signer. */
  end(): void {
    for (const controller of this.waiting) controller.abort();
  }

  /**
   * Requests a signature. A notice that cannot be signed soon is dropped: it would be stale, and those that matter are
   * repeated.
   */
  private async signRemotely(payload: Payload): Promise<void> {
    const { rules, signer, clock } = this.parts;
    if (signer === undefined || this.waiting.size >= WAITING_LIMIT) return;
    const controller = new AbortController();
    this.waiting.add(controller);
    const deadline = clock.at(clock.nowMs() + SIGNED_WITHIN_MS, () => controller.abort());
    const preimage = messagePreimage(payload);
    const signature = await signer.sign({ digest: keccak256(preimage), preimage }, controller.signal);
    deadline.cancel();
    this.waiting.delete(controller);
    if (signature !== undefined && !controller.signal.aborted)
      this.post({ kind: "prepare", signed: { payload, signature, author: rules.self } });
  }
}

/** Most notices that wait for the signer, which takes six requests at once: the votes of a round come first. */
const WAITING_LIMIT = 2;
const SIGNED_WITHIN_MS = 2_000;
