import { useEffect, useState } from "preact/hooks";
import type * as Decoding from "./decoding.ts";

/** The decoders, which are loaded when a page first needs them. */
export function useDecoding(): typeof Decoding | undefined {
  const [decoding, setDecoding] = useState<typeof Decoding>();
  useEffect(() => {
    void import("./decoding.ts").then((module) => setDecoding(() => module));
  }, []);
  return decoding;
}
