import { rlpListSize, writeRlpListPrefix } from "./rlp.ts";
import { copyInSteps, STEP_BYTES, StepMeter, type Steps } from "./steps.ts";

/** Like encodeRlpList, in steps: a list may have megabytes. */
export function* encodeRlpListInSteps(
  members: readonly Uint8Array[],
  meter: StepMeter = new StepMeter(),
): Steps<Uint8Array> {
  let length = 0;
  for (const member of members) length += member.length;
  const list = new Uint8Array(rlpListSize(length));
  let at = writeRlpListPrefix(list, 0, length);
  for (const member of members) {
    yield* copyInSteps(list, at, member);
    at += member.length;
    if (meter.isFull(MEMBER_STEP_BYTES + Math.min(member.length, STEP_BYTES))) yield;
  }
  return list;
}

/** What a short member adds to a step: it takes some 0.1 µs. */
const MEMBER_STEP_BYTES = 128;
