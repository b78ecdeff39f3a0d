import { expect } from "vitest";

/** Besu's -32602, with data of ours that tells what is wrong. */
export const INVALID_PARAMS = {
  code: -32602,
  message: "Invalid params",
  data: expect.any(String) as unknown,
};

/** The text of an answer as Besu writes it, whose -32602 and eth_getWork say no more than their message. */
export function withoutProblems(json: string): string {
  return json.replaceAll(
    /("code":-3260[23],"message":"(?:Invalid params|Internal error)"),"data":"(?:parameter|expected|the |more than)[^"]*"/g,
    "$1",
  );
}
