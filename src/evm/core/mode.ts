/** True in the build that leaves after each instruction, for tracing; the build script replaces this file for it. */
export const STEPS: bool = false;
