import type { SealErrorCode } from "../ibft/sealRules.ts";
import { err, type Result } from "../primitives/result.ts";
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
  | "validationStopped";

/** The head moved during the validation. */
export function notAfterHead(header: Header, head: NamedHeader): Result<never, "notAfterHead"> {
  return err({
    code: "notAfterHead",
    fault: "local",
    message: `block ${header.number} does not follow the head, which is now block ${head.header.number}`,
  });
}

/** The caller aborted the validation. */
export function validationStopped({ number }: Header): Result<never, "validationStopped"> {
  const message = `the validation of block ${number} was stopped`;
  return err({ code: "validationStopped", fault: "local", message });
}
