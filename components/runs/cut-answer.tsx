/** Under or above an agent's answer that ended at the limit of its length. */
export const CutAnswer = ({ className = "" }: { className?: string }) => (
  <p className={`text-12 text-waiting ${className}`}>
    The answer ends at the limit of its length and may be cut: raise “Longest answer” of the agent.
  </p>
);
