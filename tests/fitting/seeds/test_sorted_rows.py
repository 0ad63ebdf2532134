from geomm_plugin.fitting.seeds import as_seed


def test_a_rotated_cloud_is_paired_up_from_both_sides(rotated):
    pairs = as_seed("sorted_rows").pairs(*rotated)
    assert len(pairs) == 800  # every word of both languages asks once
    assert (pairs.source == pairs.target).mean() > 0.5  # by chance: 1 in 400


def test_only_as_many_words_as_asked_for_are_looked_at(rotated):
    pairs = as_seed("sorted_rows:words=50").pairs(*rotated)
    assert pairs.source.max() < 50
    assert pairs.target.max() < 50
