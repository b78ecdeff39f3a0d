import type { StateReader } from "../../state/stateReader.ts";

/** A reader that looks at the clock before each read: one from the disk may take as long as a thousand instructions. */
export function inlineReader(state: StateReader, look: () => void): StateReader {
  return {
    account(address) {
      look();
      return state.account(address);
    },
    storage(address, slot) {
      look();
      return state.storage(address, slot);
    },
    code(codeHash) {
      look();
      return state.code(codeHash);
    },
  };
}
