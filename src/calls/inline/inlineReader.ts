import type { StateReader } from "../../state/stateReader.ts";

/** A reader that checks the deadline before each read: a read from disk may take as long as a thousand instructions. */
export function inlineReader(state: StateReader, checkDeadline: () => void): StateReader {
  return {
    account(address) {
      checkDeadline();
      return state.account(address);
    },
    storage(address, slot) {
      checkDeadline();
      return state.storage(address, slot);
    },
    code(codeHash) {
      checkDeadline();
      return state.code(codeHash);
    },
  };
}
