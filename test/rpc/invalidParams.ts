import { expect } from "vitest";

/** Besu's -32602, with data of ours that tells what is wrong. */
export const INVALID_PARAMS = {
  code: -32602,
  message: "Invalid params",
  data: expect.any(String) as unknown,
};
