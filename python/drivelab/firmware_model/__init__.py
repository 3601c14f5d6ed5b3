"""What a firmware costs on a drive's processor, as a model that is kept.

::

    firmware train ──> model_file.py ──> a preset's firmware.time = "learned:MODEL.json"
                       costs.py          firmware predict
                       shipped/*.json

`drivelab firmware train` writes it; drives and `drivelab firmware predict` read it.
"""
