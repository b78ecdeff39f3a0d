import type { SealErrorCode } from "../ibft/sealRules.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { err, fail, type Result } from "../primitives/result.ts";
import type { NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { BodyErrorCode } from "./bodyRules.ts";
import type { HeaderErrorCode } from "./headerRules.ts";

/** Why a block did not become part of the chain. */
export type BlockErrorCode =
  | HeaderErrorCode
  | BodyErrorCode
  | SealErrorCode
  | "malformedExtraData"
  | "unknownSender"
  | "invalidTransaction"
  | "notAfterHead"
  | "executionFailed"
  | "validationStopped";

/** The head moved during the validation. */
export function notAfterHead(header: Header, head: NamedHeader): Result<never, "notAfterHead"> {
  return fail(
    "local",
    "notAfterHead",
    `block ${header.number} does not follow the head, which is now block ${head.header.number}`,
  );
}

/** The execution threw: this node's fault, whatever the block contains (architecture.md#faults-of-an-execution). */
export function executionFailed({ number }: Header, error: unknown): Result<never, "executionFailed"> {
  const message = `block ${number} could not be executed because of a fault in this node: ${messageOf(error)}`;
  return err({ code: "executionFailed", fault: "local", message, facts: { error } });
}

/** The caller aborted the validation. */
export function validationStopped({ number }: Header): Result<never, "validationStopped"> {
  const message = `the validation of block ${number} was stopped`;
  return fail("local", "validationStopped", message);
}
